-- The `cmsgpack` library: MessagePack as lua-cmsgpack 0.4.0 reads and writes it.
--
-- Writing. A table whose keys are exactly 1..n is an array (so is an empty one), any other a map. A number that is a
-- 64-bit integer takes the shortest integer form, any other a float if that is exact, else a double.
-- Tables nested deeper than 16, functions and the like become nil.

local kit = ...
local check_string, check_integer, fail, bad_argument = kit.check_string, kit.check_integer, kit.fail, kit.bad_argument
local native, joined = kit.native, kit.joined
local byte, char, find, sub = string.byte, string.char, string.find, string.sub
local floor, ldexp = math.floor, math.ldexp
local error, select, type, next, unpack = error, select, type, next, unpack

local MAX_NESTING = 16
local MAX_RESULTS = 7990 -- Lua's stack for one C function has room for little more
local TWO_63 = 9223372036854775808

-- Writing --------------------------------------------------------------------------------------------

local function two(n)
  return char(floor(n / 256), n % 256)
end

local function four(n)
  return char(floor(n / 16777216), floor(n / 65536) % 256, floor(n / 256) % 256, n % 256)
end

-- A 64-bit integer, negative ones in two's complement. Division by a power of two is exact.
local function eight(n)
  local high = floor(n / 4294967296)
  return four(high % 4294967296) .. four(n - high * 4294967296)
end

local SMALL = {}
for n = 0, 127 do
  SMALL[n] = char(n)
end

local function number_bytes(n)
  if SMALL[n] then
    return SMALL[n]
  elseif n ~= n or n >= TWO_63 or n < -TWO_63 or floor(n) ~= n then
    return native.pack_double(n)
  elseif n >= 0 then
    if n < 256 then
      return "\204" .. char(n)
    elseif n < 65536 then
      return "\205" .. two(n)
    elseif n < 4294967296 then
      return "\206" .. four(n)
    end
    return "\207" .. eight(n)
  elseif n >= -32 then
    return char(256 + n)
  elseif n >= -128 then
    return "\208" .. char(256 + n)
  elseif n >= -32768 then
    return "\209" .. two(65536 + n)
  elseif n >= -2147483648 then
    return "\210" .. four(4294967296 + n)
  end
  return "\211" .. eight(n)
end

local SHORT_HEADS = {}
for size = 0, 31 do
  SHORT_HEADS[size] = char(160 + size)
end

local function string_head(size)
  if size < 256 then
    return "\217" .. char(size)
  elseif size < 65536 then
    return "\218" .. two(size)
  end
  return "\219" .. four(size % 4294967296)
end

local function container_head(count, short, medium, long)
  if count < 16 then
    return char(short + count)
  elseif count < 65536 then
    return medium .. two(count)
  end
  return long .. four(count)
end

-- The number of items if the keys are exactly 1..n, else nil, and the number of pairs.
local function array_length(value)
  local count, highest = 0, 0
  local is_array = type(next(value)) ~= "string"
  for key in next, value do
    count = count + 1
    if is_array then
      if type(key) ~= "number" or key <= 0 or key > 2147483647 or key % 1 ~= 0 then
        is_array = false
      elseif key > highest then
        highest = key
      end
    end
  end
  return is_array and highest == count and count or nil, count
end

local put_table

local function put(out, n, value, level)
  local kind = type(value)
  if kind == "string" then
    out[n + 1], out[n + 2] = SHORT_HEADS[#value] or string_head(#value), value
    return n + 2
  elseif kind == "number" then
    out[n + 1] = number_bytes(value)
    return n + 1
  elseif kind == "table" and level < MAX_NESTING then
    return put_table(out, n, value, level + 1)
  elseif kind == "boolean" then
    out[n + 1] = value and "\195" or "\194"
    return n + 1
  end
  out[n + 1] = "\192"
  return n + 1
end

function put_table(out, n, value, level)
  value = kit.thaw(value)
  local length, pairs_count = array_length(value)
  if length then
    length = #value
    out[n + 1] = container_head(length, 144, "\220", "\221")
    n = n + 1
    for i = 1, length do
      n = put(out, n, value[i], level)
    end
    return n
  end
  out[n + 1] = container_head(pairs_count, 128, "\222", "\223")
  n = n + 1
  for key, item in next, value do
    n = put(out, n, key, level)
    n = put(out, n, item, level)
  end
  return n
end

local pieces = {}

local function pack(...)
  local count = select("#", ...)
  if count == 0 then
    bad_argument(0, "MessagePack pack needs input.")
  end
  local n, text = 0, nil
  for i = 1, count do
    n = put(pieces, n, (select(i, ...)), 0)
  end
  text, pieces = joined(pieces, n)
  return text
end

-- Reading --------------------------------------------------------------------------------------------

local read

local function need(data, at, size)
  if at + size - 1 > #data then
    fail("Missing bytes in input.")
  end
end

local function unsigned(data, at, size)
  need(data, at, size)
  if size == 1 then
    return byte(data, at)
  elseif size == 2 then
    local a, b = byte(data, at, at + 1)
    return a * 256 + b
  end
  local a, b, c, d = byte(data, at, at + 3)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

-- A double holds integers up to 2^53; Python reads what is larger, or negative.
local function read_integer(data, at)
  local a, b, c, d, e, f, g, h = byte(data, at, at + 7)
  if not h then
    fail("Missing bytes in input.")
  elseif a == 0 and b < 32 then
    return ((b * 256 + c) * 256 + d) * 4294967296 + ((e * 256 + f) * 256 + g) * 256 + h, at + 8
  end
  return native.read_int64(sub(data, at, at + 7)), at + 8
end

local function signed(data, at, size)
  local value = unsigned(data, at, size)
  local limit = 256 ^ size
  return value >= limit / 2 and value - limit or value
end

local function read_string(data, at, size)
  need(data, at, size)
  return sub(data, at, at + size - 1), at + size
end

-- The usual items are read here, without a call. (What is nil is set too: that shapes the table as in C.)
local function read_array(data, at, count)
  local result, size, stop = {}, #data, 0
  for i = 1, count do
    local first = at < stop and 192 or byte(data, at)
    if first == 192 then
      if at >= stop then -- they come in rows
        stop = find(data, "[^\192]", at) or size + 1
      end
      result[i], at = nil, at + 1
    elseif first and first >= 160 and first < 192 then
      local last = at + first - 160
      if last > size then
        fail("Missing bytes in input.")
      end
      result[i], at = sub(data, at + 1, last), last + 1
    elseif first == 207 then
      result[i], at = read_integer(data, at + 1)
    else
      result[i], at = read(data, at)
    end
  end
  return result, at
end

local function read_map(data, at, count)
  local result = {}
  for _ = 1, count do
    local key, value
    key, at = read(data, at)
    value, at = read(data, at)
    if key == nil then
      error("table index is nil", 0)
    elseif key ~= key then
      error("table index is NaN", 0)
    end
    result[key] = value
  end
  return result, at
end

local function read_double(data, at)
  need(data, at, 8)
  local a, b, c, d, e, f, g, h = byte(data, at, at + 7)
  local exponent = a % 128 * 16 + floor(b / 16)
  if exponent == 0 or exponent == 2047 then
    return native.read_double(sub(data, at, at + 7)), at + 8
  end
  local fraction = (((b % 16 * 256 + c) * 256 + d) * 256 + e) * 16777216 + (f * 256 + g) * 256 + h
  local value = ldexp(fraction + 4503599627370496, exponent - 1075)
  return a < 128 and value or -value, at + 8
end

-- By first byte: a function of the data and the position after that byte.
local readers = {
  [0xc0] = function(_, at) return nil, at end,
  [0xc2] = function(_, at) return false, at end,
  [0xc3] = function(_, at) return true, at end,
  [0xca] = function(data, at) need(data, at, 4) return native.read_float(sub(data, at, at + 3)), at + 4 end,
  [0xcb] = read_double,
  [0xcc] = function(data, at) return unsigned(data, at, 1), at + 1 end,
  [0xcd] = function(data, at) return unsigned(data, at, 2), at + 2 end,
  [0xce] = function(data, at) return unsigned(data, at, 4), at + 4 end,
  [0xcf] = read_integer,
  [0xd0] = function(data, at) return signed(data, at, 1), at + 1 end,
  [0xd1] = function(data, at) return signed(data, at, 2), at + 2 end,
  [0xd2] = function(data, at) return signed(data, at, 4), at + 4 end,
  [0xd3] = read_integer,
  [0xd9] = function(data, at) return read_string(data, at + 1, unsigned(data, at, 1)) end,
  [0xda] = function(data, at) return read_string(data, at + 2, unsigned(data, at, 2)) end,
  [0xdb] = function(data, at) return read_string(data, at + 4, unsigned(data, at, 4)) end,
  [0xdc] = function(data, at) return read_array(data, at + 2, unsigned(data, at, 2)) end,
  [0xdd] = function(data, at) return read_array(data, at + 4, unsigned(data, at, 4)) end,
  [0xde] = function(data, at) return read_map(data, at + 2, unsigned(data, at, 2)) end,
  [0xdf] = function(data, at) return read_map(data, at + 4, unsigned(data, at, 4)) end,
}

-- The value at `at`, and the position after it.
function read(data, at)
  local first = byte(data, at)
  if not first then
    fail("Missing bytes in input.")
  elseif first < 0x80 then
    return first, at + 1
  elseif first < 0x90 then
    return read_map(data, at + 1, first - 0x80)
  elseif first < 0xa0 then
    return read_array(data, at + 1, first - 0x90)
  elseif first < 0xc0 then
    return read_string(data, at + 1, first - 0xa0)
  elseif first >= 0xe0 then
    return first - 256, at + 1
  end
  local reader = readers[first]
  if not reader then
    fail("Bad data format in input.")
  end
  return reader(data, at + 1)
end

-- Up to `limit` values from `offset` on: a list with their number, and the position after them.
local function read_stream(data, limit, offset)
  local values, count, at = {}, 0, offset + 1
  while at <= #data and count < limit do
    count = count + 1
    if count > MAX_RESULTS then
      fail("stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)")
    end
    values[count], at = read(data, at)
  end
  return values, count, at
end

local function check_range(data, limit, offset)
  if offset < 0 or limit < 0 then
    fail(("Invalid request to unpack with offset of %d and limit of %d."):format(offset, #data))
  elseif offset > #data then
    fail(("Start offset %d greater than input length %d."):format(offset, #data))
  end
end

local function unpack_all(...)
  local data = ...
  if type(data) ~= "string" then
    data = check_string(1, select("#", ...), data)
  end
  if data ~= "" then
    local value, at = read(data, 1)
    if at > #data then
      return value -- as nearly always, there is but one
    end
  end
  local values, count = read_stream(data, 2147483647, 0)
  return unpack(values, 1, count)
end

local function unpack_some(data, limit, offset)
  if limit == 0 and offset == 0 then
    return unpack_all(data)
  end
  check_range(data, limit, offset)
  local values, count, at = read_stream(data, limit, offset)
  return at > #data and -1 or at - 1, unpack(values, 1, count)
end

local function optional(number, count, value)
  return value == nil and 0 or check_integer(number, count, value)
end

local function unpack_one(...)
  local count = select("#", ...)
  local data, offset = ...
  offset = optional(2, count, offset)
  return unpack_some(check_string(1, count, data), 1, offset)
end

local function unpack_limit(...)
  local count = select("#", ...)
  local data, limit, offset = ...
  limit, offset = check_integer(2, count, limit), optional(3, count, offset)
  return unpack_some(check_string(1, count, data), limit, offset)
end

return {
  pack = pack,
  unpack = unpack_all,
  unpack_one = unpack_one,
  unpack_limit = unpack_limit,
  _NAME = "cmsgpack",
  _VERSION = "lua-cmsgpack 0.4.0",
  _COPYRIGHT = "Copyright (C) 2012, Salvatore Sanfilippo",
  _DESCRIPTION = "MessagePack C implementation for Lua",
}
