-- The sandbox: puts the parts together, makes the environments, and gives Python the ways to run things.
--
-- This runs once per Lua state, with the whole standard library in reach. The parts (the other files
-- here) are functions of `kit`, the table they share. They keep what they need (`debug`, Python's
-- callables) in local variables. Scripts get nothing but closures made here; `debug`, `getfenv` and
-- `setfenv` are not among them, so upvalues can't be read and nothing of Python can be reached.
-- At the end the state's own global table is emptied: nothing runs in it but lupa's calls.
--
-- EVAL scripts and functions have an environment each; the libraries behind them are the same tables.

-- What stands here lives as long as the state and is gone through by every collection, so those come only when
-- the memory in use has quadrupled, not doubled; `make_room` below sees to it that this is no more than allowed.
collectgarbage("setpause", 400)

local callables, options, parts = ...
local kit = { native = {}, raw_native = {}, options = options }

-- Python callables as C functions. Lua may run out of memory in Lua code, where that is an error like any
-- other, but not while lupa hands a value over: so nothing is called unless there is room. `raw_native` has
-- the functions without that check, for the one caller that makes it itself.
local room_ends, gcinfo, collectgarbage = options.room_ends, gcinfo, collectgarbage

function kit.make_room()
  collectgarbage()
  if gcinfo() > room_ends then
    kit.end_run("ERR not enough memory")
  end
end

local function with_room(f)
  return function(...)
    if gcinfo() > room_ends then
      kit.make_room()
    end
    return f(...)
  end
end

for name, callable in pairs(callables) do
  kit.raw_native[name] = python.as_function(callable)
  kit.native[name] = with_room(kit.raw_native[name])
end

-- What cjson gives for null: in C a light userdata, here a full one that prints like it.
kit.null = newproxy(true)
getmetatable(kit.null).__tostring = function()
  return "userdata: (nil)"
end

for _, name in ipairs({ "errors", "frozen", "guarded", "pieces", "random", "signs", "redis", "results", "functions" }) do
  parts[name](kit)
end

local freeze, freeze_strictly = kit.freeze, kit.freeze_strictly

-- Libraries --------------------------------------------------------------------------------------------

local function copy(source, names)
  local result = {}
  for name in names:gmatch("%S+") do
    result[name] = source[name]
  end
  return result
end

local error, rep, dump, select, type = error, string.rep, string.dump, select, type

local function checked_dump(...)
  local f = ...
  if type(f) ~= "function" then
    kit.wrong_type(1, "function", select("#", ...), f)
  elseif kit.is_native(f) then
    kit.fail("unable to dump given function")
  end
  return dump(f)
end

-- string.rep of gigabytes is refused before it is tried.

local function checked_rep(...)
  local count = select("#", ...)
  local text, times = ...
  text, times = kit.check_string(1, count, text), kit.check_integer(2, count, times)
  if #text * times > options.max_string then
    error("not enough memory", 0)
  end
  return rep(text, times)
end

local shared = {}

local function make_shared()
  local strings = copy(string, "byte char find format gfind gmatch gsub len lower match reverse sub upper")
  strings.rep, strings.dump = checked_rep, checked_dump
  getmetatable("").__index = strings
  shared.string = freeze(strings)
  kit.set_string_meta(shared.string)

  local tables = copy(table, "concat foreachi getn insert maxn remove setn sort")
  tables.foreach = kit.foreach
  shared.table = freeze(tables)

  local maths = copy(math, "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log log10 "
    .. "max min mod modf pi pow rad sin sinh sqrt tan tanh")
  maths.random, maths.randomseed = kit.random, kit.randomseed
  shared.math = freeze(maths)

  shared.coroutine = freeze(kit.threads)
  if options.os_clock then
    shared.os = freeze({ clock = os.clock })
  end
  for _, name in ipairs({ "bit", "cjson", "cmsgpack", "struct" }) do
    shared[name] = freeze(parts[name](kit))
  end
end

-- Environments -----------------------------------------------------------------------------------------

local LOG_FIELDS = " log LOG_DEBUG LOG_VERBOSE LOG_NOTICE LOG_WARNING REDIS_VERSION REDIS_VERSION_NUM"
local REDIS_FIELDS = "acl_check_cmd call error_reply pcall set_repl setresp sha1hex status_reply "
  .. "REPL_NONE REPL_AOF REPL_SLAVE REPL_REPLICA REPL_ALL" .. LOG_FIELDS

-- Fresh globals: Lua's own, the libraries, and the given `redis` table.
local function make_globals(redis, get_env)
  local globals = copy(_G, "_VERSION assert collectgarbage error gcinfo ipairs rawequal select tonumber "
    .. "tostring type unpack")
  for name, value in pairs(kit.base) do
    globals[name] = value
  end
  for name, value in pairs(shared) do
    globals[name] = value
  end
  globals.load, globals.loadstring = kit.loaders(get_env)
  globals.redis = freeze(redis)
  return globals
end

make_shared()

local script_redis = copy(kit.redis, REDIS_FIELDS)
function script_redis.breakpoint()
  return false
end
function script_redis.debug() end
function script_redis.replicate_commands()
  return true
end
local script_env
local globals = make_globals(script_redis, function() return script_env end)
globals.__redis__err__handler = kit.trace
script_env = freeze_strictly(globals)
globals._G = script_env

local loading_redis = copy(kit.redis, LOG_FIELDS)
loading_redis.register_function = kit.register_function
local function_env
local function_globals = make_globals(copy(kit.redis, REDIS_FIELDS), function() return function_env end)
local function_root, load_library
function_root, function_env, load_library =
  kit.make_functions(function_globals, { redis = freeze_strictly(loading_redis) })
function_globals._G = function_root

-- Running ----------------------------------------------------------------------------------------------

-- runners[n](script, key 1 .. key n, arguments ...). They are not rid of their tail calls, so that a callback has
-- no caller that an error's level could point at, just as if C had called it.
local RUNNER = [[
  local globals, xpcall, trace, result = ...
  return function(script%s, ...)
    globals.KEYS = {%s}
    globals.ARGV = {...}
    return result(xpcall(script, trace))
  end]]
local CALLER = [[
  local xpcall, trace, result = ...
  return function(callback, keys, arguments)
    return result(xpcall(function() return callback(keys, arguments) end, trace))
  end]]

local runners = {}
for n = 0, options.max_keys do
  local names = {}
  for i = 1, n do
    names[i] = "k" .. i
  end
  local keys = table.concat(names, ",")
  local code = RUNNER:format(n > 0 and "," .. keys or "", keys)
  runners[n] = assert(loadstring(code, "=[C]"))(globals, xpcall, kit.trace, kit.result)
end

local setfenv, xpcall, trace, result = setfenv, xpcall, kit.trace, kit.result

local exported = {
  array = kit.markers.array,
  pairs = kit.markers.pairs,
  fetch = kit.fetch,
  forget_long_result = kit.forget_long_result,
  memory = gcinfo,
  seed = kit.randomseed,
  load_library = load_library,
  call_function = assert(loadstring(CALLER, "=[C]"))(xpcall, trace, result),
}

function exported.run_tables(script, keys, arguments)
  globals.KEYS = keys
  globals.ARGV = arguments
  return result(xpcall(script, trace))
end

-- After an error that escaped from a run (in the making of its result): the text, if the script was killed.
function exported.escaped()
  local killed = kit.killed
  kit.killed = false
  collectgarbage()
  return killed and killed.err or nil
end

-- Makes a compiled chunk a script.
function exported.adopt(chunk)
  kit.sweep()
  return setfenv(chunk, script_env)
end

local own = _G
for name in pairs(own) do
  own[name] = nil
end
return exported, runners
