-- Errors as C functions raise them in Redis, and arguments as they check them.
--
-- The functions of the sandbox stand in for C functions. An error in a C function names the line of
-- the script that called it; `fail` does the same, taking all frames of these chunks (which are named
-- `=[C]`) for one C function. `trace` is the message handler of each run and adds source and line.
--
-- A script that is to end may not survive by catching the error. `kit.killed` holds the error table
-- while that is so, and whatever catches errors asks it and throws it on.

local kit = ...
local getinfo = debug.getinfo
local error, tonumber, tostring, type = error, tonumber, tostring, type
local floor, format = math.floor, string.format

kit.killed = false

local function ours(info)
  return info.source == "=[C]" and info.what ~= "C"
end

-- Raises `message` as luaL_error does: with the place from which this function of ours was called,
-- if that is a script.
local function fail(message)
  local level = 2
  local info = getinfo(level, "Sl")
  while info and ours(info) do
    level = level + 1
    info = getinfo(level, "Sl")
  end
  if info and info.currentline > 0 then
    message = info.short_src .. ":" .. info.currentline .. ": " .. message
  end
  error(message, 0)
end

-- Raises what luaL_argerror would for argument `number` of the function that the script called.
local function bad_argument(number, message)
  local level = 2
  local info = getinfo(level + 1, "S")
  while info and ours(info) do
    level = level + 1
    info = getinfo(level + 1, "S")
  end
  local call = getinfo(level, "n")
  if call.namewhat == "method" then
    number = number - 1
    if number == 0 then
      fail(format("calling '%s' on bad self (%s)", call.name, message))
    end
  end
  fail(format("bad argument #%d to '%s' (%s)", number, call.name or "?", message))
end

-- Raises that argument `number` of `count` is not what was expected.
local function wrong_type(number, expected, count, value)
  local got = number > count and "no value" or type(value)
  bad_argument(number, format("%s expected, got %s", expected, got))
end

-- The number in argument `number`: a number, or a string that reads as one.
local function check_number(number, count, value)
  local kind = type(value)
  if kind == "number" then
    return value
  end
  local result = kind == "string" and tonumber(value)
  if not result then
    wrong_type(number, "number", count, value)
  end
  return result
end

local function check_string(number, count, value)
  local kind = type(value)
  if kind == "string" then
    return value
  elseif kind == "number" then
    return tostring(value)
  end
  wrong_type(number, "string", count, value)
end

-- The integer C makes of a double: cut toward zero.
local function to_integer(value)
  return value < 0 and -floor(-value) or floor(value)
end

local function check_integer(number, count, value)
  return to_integer(check_number(number, count, value))
end

-- The message handler of a run: an error table with the text, and the place of the error.
function kit.trace(err)
  local level = 2
  local info = getinfo(level, "Sl")
  if info and info.what == "C" then
    level = 3
    info = getinfo(level, "Sl")
  end
  while info and ours(info) do
    level = level + 1
    info = getinfo(level, "Sl")
  end
  if kit.killed then
    err = kit.killed
  elseif type(err) ~= "table" then
    err = { err = "ERR " .. tostring(err) }
  end
  if info then
    err.source = info.source
    err.line = info.currentline
  end
  return err
end

-- Ends the run with an error that nothing catches.
function kit.end_run(message)
  kit.killed = { err = message }
  error(kit.killed, 0)
end

-- Raises an error table, as Redis' own functions do.
function kit.raise(message)
  error({ err = "ERR " .. message }, 0)
end

-- Is `f` a function that scripts shall take for one of C?
function kit.is_native(f)
  return getinfo(f, "S").source == "=[C]"
end

kit.fail, kit.bad_argument, kit.wrong_type = fail, bad_argument, wrong_type
kit.check_number, kit.check_string, kit.check_integer = check_number, check_string, check_integer
kit.to_integer = to_integer
