-- The `struct` library. The work is done by Python in one call (`structs.py`); here the arguments that need
-- Lua's rules are checked, and errors get their names and places.

local kit = ...
local check_string, check_integer = kit.check_string, kit.check_integer
local fail, bad_argument, wrong_type, native = kit.fail, kit.bad_argument, kit.wrong_type, kit.native
local signed = kit.signed
local select = select

-- Python answers with the string, or `true`, the number of the argument that is wrong (0 for none), the text, and
-- the type that it should have if that is what is wrong.
local function pack(...)
  local count = select("#", ...)
  local layout = check_string(1, count, (...))
  local value, argument, text, expected = native.struct_pack(layout, select(2, signed(...)))
  if value ~= true then
    return value
  elseif argument == 0 then
    fail(text)
  elseif expected == "" then
    bad_argument(argument, text)
  end
  wrong_type(argument, expected, count + 1, (select(argument, ...))) -- C keeps a nil after the arguments
end

-- The values Python gives after `false`, or its error.
local function unpacked(failed, argument, ...)
  if not failed then
    return argument, ...
  elseif argument == 0 then
    fail((...))
  end
  bad_argument(argument, (...))
end

local function unpack(...)
  local count = select("#", ...)
  local layout, data, start = ...
  layout, data = check_string(1, count, layout), check_string(2, count, data)
  start = start == nil and 1 or check_integer(3, count, start)
  return unpacked(native.struct_unpack(layout, data, start))
end

local function size(...)
  return unpacked(native.struct_size(check_string(1, select("#", ...), (...))))
end

return { pack = pack, unpack = unpack, size = size }
