-- math.random as in Redis: the same numbers on every machine.
--
-- The generator is drand48's, 48 bits of state: x = x * 0x5DEECE66D + 11. The state is kept in two
-- halves of 24 bits, whose products a double holds exactly. Nobody seeds it at the start of a script,
-- so the numbers go on from one script to the next, as in Redis 7.

local kit = ...
local bad_argument, check_integer, fail = kit.bad_argument, kit.check_integer, kit.fail
local floor, select = math.floor, select

local HALF = 0x1000000
local high, low = 0x1234AB, 0xCD330E

-- The next 31 random bits.
local function draw()
  local product = low * 0xECE66D + 11
  local carry = floor(product / HALF)
  high = (high * 0xECE66D + low * 0x5DE + carry) % HALF
  low = product - carry * HALF
  return floor((high * HALF + low) / 0x20000)
end

-- An argument as a C int: 32 bits of it.
local function check_int(number, count, value)
  return (check_integer(number, count, value) + 0x80000000) % 0x100000000 - 0x80000000
end

function kit.random(...)
  local r = (draw() % 2147483647) / 2147483647
  local count = select("#", ...)
  if count == 0 then
    return r
  elseif count == 1 then
    local upper = check_int(1, count, (...))
    if upper < 1 then
      bad_argument(1, "interval is empty")
    end
    return floor(r * upper) + 1
  elseif count == 2 then
    local a, b = ...
    local lower, upper = check_int(1, count, a), check_int(2, count, b)
    if lower > upper then
      bad_argument(2, "interval is empty")
    end
    return floor(r * (upper - lower + 1)) + lower
  end
  fail("wrong number of arguments")
end

function kit.randomseed(...)
  local seed = check_int(1, select("#", ...), (...)) % 0x100000000
  high, low = floor(seed / 0x100), seed % 0x100 * 0x10000 + 0x330E
end
