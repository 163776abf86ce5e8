-- Negative zeros. On its way to Python a whole number becomes an integer, and no integer is a negative zero. Where
-- the sign counts, the number is handed over as a text.

local kit = ...
local select, unpack = select, unpack

function kit.is_negative_zero(value)
  return value == 0 and 1 / value < 0
end

-- The values, with "-0" for each negative zero.
function kit.signed(...)
  local values, signs = { ... }, false
  local count = select("#", ...)
  for i = 1, count do
    local value = values[i]
    if value == 0 and 1 / value < 0 then
      values[i], signs = "-0", true
    end
  end
  if signs then
    return unpack(values, 1, count)
  end
  return ...
end
