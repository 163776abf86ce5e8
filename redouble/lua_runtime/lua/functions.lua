-- Functions: their environment, and `redis.register_function`.
--
-- While a library loads it sees one global, a `redis` table with `register_function` and `log`. Later, when
-- its functions run, the same environment shows the globals of scripts, without KEYS and ARGV. Redis does
-- that by changing the __index of the environment's metatable, and so does `load_library`.

local kit = ...
local native, raise = kit.native, kit.raise
local freeze_strictly, setfenv, pcall, setmetatable = kit.freeze_strictly, setfenv, pcall, setmetatable
local next, select, tostring, type = next, select, tostring, type

-- Makes the environment out of the globals of running functions and those of a loading library.
function kit.make_functions(globals, loading)
  globals, loading = freeze_strictly(globals), freeze_strictly(loading)
  local meta = { __index = globals, __newindex = kit.refuse_write }
  local env = setmetatable({}, meta)

  -- Runs a library's code; nil, or the text of its error.
  local function load_library(chunk)
    meta.__index = loading
    local ok, err = pcall(setfenv(chunk, env))
    meta.__index = globals
    kit.killed = false
    if ok then
      return nil
    elseif type(err) ~= "table" then
      return "ERR " .. tostring(err)
    end
    return tostring(err.err)
  end

  return globals, env, load_library
end

local function is_text(value)
  return type(value) == "string" or type(value) == "number"
end

local NAMED = {}

function NAMED.function_name(wanted, value)
  if not is_text(value) then
    raise("function_name argument given to redis.register_function must be a string")
  end
  wanted.name = tostring(value)
end

function NAMED.description(wanted, value)
  if not is_text(value) then
    raise("description argument given to redis.register_function must be a string")
  end
  wanted.description = tostring(value)
end

function NAMED.callback(wanted, value)
  if type(value) ~= "function" then
    raise("callback argument given to redis.register_function must be a function")
  end
  wanted.callback = value
end

function NAMED.flags(wanted, value)
  if type(value) ~= "table" then
    raise("flags argument to redis.register_function must be a table representing function flags")
  end
  local bits, index = 0, 1
  while value[index] ~= nil do
    local bit = is_text(value[index]) and native.flag_bit(tostring(value[index])) or 0
    if bit == 0 then
      raise("unknown flag given")
    elseif bits % (bit * 2) < bit then
      bits = bits + bit
    end
    index = index + 1
  end
  wanted.flags = bits
end

local function read_named(given)
  if type(given) ~= "table" then
    raise("calling redis.register_function with a single argument is only applicable to Lua table "
      .. "(representing named arguments).")
  end
  local wanted = { flags = 0 }
  for key, value in next, kit.thaw(given) do
    if not is_text(key) then
      raise("named argument key given to redis.register_function is not a string")
    end
    local read = NAMED[tostring(key):lower()]
    if not read then
      raise("unknown argument given to redis.register_function")
    end
    read(wanted, value)
  end
  if not wanted.name then
    raise("redis.register_function must get a function name argument")
  elseif not wanted.callback then
    raise("redis.register_function must get a callback argument")
  end
  return wanted
end

local function read_positional(name, callback)
  if not is_text(name) then
    raise("first argument to redis.register_function must be a string")
  elseif type(callback) ~= "function" then
    raise("second argument to redis.register_function must be a function")
  end
  return { name = tostring(name), callback = callback, flags = 0 }
end

function kit.register_function(...)
  local count = select("#", ...)
  if not native.is_loading() then
    raise("redis.register_function can only be called on FUNCTION LOAD command")
  elseif count < 1 or count > 2 then
    raise("wrong number of arguments to redis.register_function")
  end
  local wanted = count == 1 and read_named((...)) or read_positional(...)
  local err = native.register(wanted.name, wanted.description, wanted.flags, wanted.callback)
  if err then
    raise(err)
  end
end
