-- The `struct` library: C structs to strings and back, as Roberto Ierusalimschy's lua_struct does.
--
-- Formats: `>` `<` endianness, `!n` alignment, `x` pad byte, `b` `B` char, `h` `H` short, `l` `L` long,
-- `T` size_t, `i` `I` integers of n bytes (4), `f` float, `d` double, `s` zero-ended string, `c` n bytes.
-- The numbers themselves are written and read by Python, byte for byte as C does.

local kit = ...
local check_string, check_number, check_integer = kit.check_string, kit.check_number, kit.check_integer
local fail, bad_argument, native = kit.fail, kit.bad_argument, kit.native
local byte, find, rep, sub, concat = string.byte, string.find, string.rep, string.sub, table.concat
local format, select, tonumber, unpack = string.format, select, tonumber, unpack

local MAX_INTEGER_SIZE, MAX_INT = 32, 2147483647
local SIZES = { b = 1, B = 1, h = 2, H = 2, l = 8, L = 8, T = 8, f = 4, d = 8, x = 1 }
local INTEGERS = { b = true, B = true, h = true, H = true, l = true, L = true, T = true, i = true, I = true }

-- The number written at `at` in the format (or `default`), and the position after it.
local function number_at(layout, at, default)
  local first, last = find(layout, "^%d+", at)
  if not first then
    return default, at
  end
  local value = 0
  for i = first, last do
    local digit = byte(layout, i) - 48
    if value > 214748364 or value * 10 > MAX_INT - digit then
      fail("integral size overflow")
    end
    value = value * 10 + digit
  end
  return value, last + 1
end

-- The size of option `option`, and the position after its number.
local function option_size(layout, at, option)
  local size = SIZES[option]
  if size then
    return size, at
  elseif option == "c" then
    return number_at(layout, at, 1)
  elseif option == "i" or option == "I" then
    size, at = number_at(layout, at, 4)
    if size > MAX_INTEGER_SIZE then
      fail(format("integral size %d is larger than limit of %d", size, MAX_INTEGER_SIZE))
    end
    return size, at
  end
  return 0, at
end

-- The pad bytes before an element at `position` (from 0). C works on a mask; so do we for odd sizes.
local function padding(state, position, option, size)
  if size == 0 or option == "c" then
    return 0
  end
  if size > state.align then
    size = state.align
  end
  return native.padding(position, size)
end

local function control(state, layout, at, option)
  if option == " " then
    return at
  elseif option == ">" then
    state.little = false
  elseif option == "<" then
    state.little = true
  elseif option == "!" then
    local align
    align, at = number_at(layout, at, 8)
    local power = align
    while power > 1 and power % 2 == 0 do
      power = power / 2
    end
    if power ~= 1 then
      fail(format("alignment %d is not a power of 2", align))
    end
    state.align = align
  else
    bad_argument(1, format("invalid format option '%s'", option))
  end
  return at
end

-- C sees the format up to its first zero byte.
local function check_layout(count, layout)
  layout = check_string(1, count, layout)
  return sub(layout, 1, (find(layout, "%z") or 0) - 1)
end

local function pack_string(number, count, value, option, size)
  value = check_string(number, count, value)
  if size == 0 then
    size = #value
  end
  if #value < size then
    bad_argument(number + 1, "string too short")
  end
  value = sub(value, 1, size)
  return option == "s" and value .. "\0" or value
end

local function pack(...)
  local count = select("#", ...) + 1 -- C keeps a nil after the arguments
  local layout = check_layout(count, (...))
  local state = { little = true, align = 1 }
  local out, total, argument, at = {}, 0, 2, 1
  while at <= #layout do
    local option = sub(layout, at, at)
    local size
    size, at = option_size(layout, at + 1, option)
    local pad = padding(state, total, option, size)
    total = total + pad
    out[#out + 1] = rep("\0", pad)
    local value = (select(argument, ...))
    if INTEGERS[option] then
      out[#out + 1] = native.put_integer(check_number(argument, count, value), size, state.little)
      argument = argument + 1
    elseif option == "f" or option == "d" then
      out[#out + 1] = native.put_float(check_number(argument, count, value), size, state.little)
      argument = argument + 1
    elseif option == "c" or option == "s" then
      local text = pack_string(argument, count, value, option, size)
      out[#out + 1] = text
      size = #text
      argument = argument + 1
    elseif option == "x" then
      out[#out + 1] = "\0"
    else
      at = control(state, layout, at, option)
    end
    total = total + size
  end
  return concat(out)
end

local function check_room(data, position, size)
  if size > #data or position < 0 or position > #data - size then
    bad_argument(2, "data string too short")
  end
end

local function unpack_struct(...)
  local count = select("#", ...)
  local layout, data, start = ...
  layout, data = check_layout(count, layout), check_string(2, count, data)
  local position = (start == nil and 1 or check_integer(3, count, start)) - 1
  if position == -1 then
    bad_argument(3, "offset must be 1 or greater")
  end -- other negative positions are huge ones to C: too far, unless padding wraps them around
  local state = { little = true, align = 1 }
  local out, n, at = {}, 0, 1
  while at <= #layout do
    local option = sub(layout, at, at)
    local size
    size, at = option_size(layout, at + 1, option)
    position = position + padding(state, position, option, size)
    check_room(data, position, size)
    local bytes = sub(data, position + 1, position + size)
    if INTEGERS[option] then
      n = n + 1
      out[n] = native.get_integer(bytes, state.little, option >= "a")
    elseif option == "f" or option == "d" then
      n = n + 1
      out[n] = native.get_float(bytes, state.little)
    elseif option == "c" then
      if size == 0 then
        size = n > 0 and tonumber(out[n])
        if not size then
          fail("format 'c0' needs a previous size")
        end
        size = kit.to_integer(size)
        check_room(data, position, size)
        n = n - 1
      end
      n = n + 1
      out[n] = sub(data, position + 1, position + size)
    elseif option == "s" then
      local stop = find(data, "%z", position + 1)
      if not stop then
        fail("unfinished string in data")
      end
      n = n + 1
      out[n] = sub(data, position + 1, stop - 1)
      size = stop - position
    elseif option ~= "x" then
      at = control(state, layout, at, option)
    end
    position = position + size
  end
  out[n + 1] = position + 1
  return unpack(out, 1, n + 1)
end

local function size_of(...)
  local layout = check_layout(select("#", ...), (...))
  local state = { little = true, align = 1 }
  local position, at = 0, 1
  while at <= #layout do
    local option = sub(layout, at, at)
    local size
    size, at = option_size(layout, at + 1, option)
    position = position + padding(state, position, option, size)
    if option == "s" then
      bad_argument(1, "option 's' has no fixed size")
    elseif option == "c" and size == 0 then
      bad_argument(1, "option 'c0' has no fixed size")
    elseif not find(option, "%w") then
      at = control(state, layout, at, option)
    end
    position = position + size
  end
  return position
end

return { pack = pack, unpack = unpack_struct, size = size_of }
