-- The `bit` library: operations on 32-bit integers, as Mike Pall's BitOp does them.
--
-- A number is taken modulo 2^32 (halves are rounded to even) and the result is signed. Lua 5.1 has
-- no bit operations, so `band`, `bor` and `bxor` look the results for pairs of bytes up in tables.

local kit = ...
local check_number = kit.check_number
local floor, format = math.floor, string.format
local select, setmetatable, type = select, setmetatable, type

local MAGIC = 6755399441055744 -- 2^52 + 2^51: adding it rounds a double to an integer

local function operand(number, count, value)
  if type(value) ~= "number" then
    value = check_number(number, count, value)
  end
  local sum = value + MAGIC
  if sum - sum ~= 0 then -- infinity or NaN: the low bits of their patterns
    return 0
  elseif sum < 4503599627370496 or sum >= 9007199254740992 then
    return kit.native.low_bits(sum)
  end
  return (sum - MAGIC) % 4294967296
end

local function signed(value)
  return value >= 2147483648 and value - 4294967296 or value
end

-- The result of an operation on two bytes, from the operation on two bits.
local function on_bytes(combine, a, b)
  local value, weight = 0, 1
  for _ = 1, 8 do
    if combine(a % 2, b % 2) then
      value = value + weight
    end
    a, b, weight = floor(a / 2), floor(b / 2), weight * 2
  end
  return value
end

local function fold(combine)
  -- The results for pairs of bytes, filled as they are needed.
  local rows = setmetatable({}, { __index = function(rows, a)
    rows[a] = setmetatable({}, { __index = function(row, b)
      row[b] = on_bytes(combine, a, b)
      return row[b]
    end })
    return rows[a]
  end })
  local function two(a, b)
    local a1, b1 = a % 256, b % 256
    a, b = (a - a1) / 256, (b - b1) / 256
    local a2, b2 = a % 256, b % 256
    a, b = (a - a2) / 256, (b - b2) / 256
    local a3, b3 = a % 256, b % 256
    a, b = (a - a3) / 256, (b - b3) / 256
    return rows[a1][b1] + rows[a2][b2] * 256 + rows[a3][b3] * 65536 + rows[a][b] * 16777216
  end
  return function(...)
    local count = select("#", ...)
    local a, b = ...
    local result = operand(1, count, a)
    if count == 2 then
      return signed(two(result, operand(2, count, b)))
    end
    for i = count, 2, -1 do
      result = two(result, operand(i, count, (select(i, ...))))
    end
    return signed(result)
  end
end

local function shift(move)
  return function(...)
    local count = select("#", ...)
    local a, n = ...
    return signed(move(operand(1, count, a), operand(2, count, n) % 32))
  end
end

local function left(a, n)
  return a * 2 ^ n % 4294967296
end

local function right(a, n)
  return floor(a / 2 ^ n)
end

local bit = {
  band = fold(function(x, y) return x == 1 and y == 1 end),
  bor = fold(function(x, y) return x == 1 or y == 1 end),
  bxor = fold(function(x, y) return x ~= y end),
  lshift = shift(left),
  rshift = shift(right),
  arshift = shift(function(a, n) return floor(signed(a) / 2 ^ n) % 4294967296 end),
  rol = shift(function(a, n) return left(a, n) + right(a, (32 - n)) end),
  ror = shift(function(a, n) return n == 0 and a or right(a, n) + left(a, 32 - n) end),
}

function bit.tobit(...)
  return signed(operand(1, select("#", ...), (...)))
end

function bit.bnot(...)
  return signed(4294967295 - operand(1, select("#", ...), (...)))
end

function bit.bswap(...)
  local a = operand(1, select("#", ...), (...))
  local first, second, third = a % 256, floor(a / 256) % 256, floor(a / 65536) % 256
  return signed(first * 16777216 + second * 65536 + third * 256 + floor(a / 16777216))
end

function bit.tohex(...)
  local count = select("#", ...)
  local a, digits = ...
  a = operand(1, count, a)
  digits = count > 1 and signed(operand(2, count, digits)) or 8
  local text = format(digits < 0 and "%08X" or "%08x", a)
  digits = digits < 0 and -digits or digits
  return digits >= 8 and text or text:sub(9 - digits)
end

return bit
