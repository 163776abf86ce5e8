-- Negative zeros. On its way to Python a whole number becomes an integer, and no integer is a negative zero. Where
-- the sign counts, the number is handed over as a text.

local kit = ...
local select, unpack = select, unpack

local function is_negative_zero(value)
  return value == 0 and 1 / value < 0
end
kit.is_negative_zero = is_negative_zero

-- The values, with "-0" for each negative zero.
function kit.signed(...)
  local values, signs = { ... }, false
  local count = select("#", ...)
  for i = 1, count do
    if is_negative_zero(values[i]) then
      values[i], signs = "-0", true
    end
  end
  if signs then
    return unpack(values, 1, count)
  end
  return ...
end
