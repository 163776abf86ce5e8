-- The sandbox: what a script sees of Lua and of Redis, and how a script is run.
--
-- This chunk runs once per Lua state, with the full standard library in reach, and keeps what it
-- needs (`debug`, the real `pcall`, the Python callables) in local variables. Nothing but closures
-- made here is handed to scripts; since `debug` and `setfenv` are not among them, upvalues can't
-- be read, so nothing of Python can be reached.
--
-- Read-only tables. Redis' Lua has a flag for them, stock Lua has not. So each shared table is
-- hidden behind an empty stand-in whose metatable reads from the real one and refuses writes;
-- `frozen` maps the stand-in to the real table, and the few functions that look at a table without
-- its metatable (`next`, `pairs`, `rawget`, ...) are wrapped to look through it. The global table
-- is such a stand-in too: a script's environment is `env`, its contents are in `globals`.
--
-- Errors. The functions here stand in for C functions, and in Redis an error in a C function
-- names the line of the script that called it. `fail(message)` does the same. `trace` is the
-- message handler of each run: it adds source and line as Redis' own handler does, taking all
-- frames of this chunk (named `=[C]`) for one C function.
--
-- Kills. A script that is to end may not survive by catching the error: each function that
-- catches errors (`pcall`, `xpcall`, `coroutine.resume`, `load`) asks `killed` and throws it on.

local host, options = ...

local debug, error, type, tostring, tonumber = debug, error, type, tostring, tonumber
local next, pairs, rawget, rawset, select, unpack = next, pairs, rawget, rawset, select, unpack
local pcall, xpcall, setmetatable, getmetatable = pcall, xpcall, setmetatable, getmetatable
local setfenv, coroutine, string, table, math = setfenv, coroutine, string, table, math
local getinfo, sethook = debug.getinfo, debug.sethook
local floor, format = math.floor, string.format

-- Python callables as C functions. What they return is a plain value, or `true` and more.
local native = {}
for name, callable in python.iterex(host.items()) do
  native[name] = python.as_function(callable)
end

local READ_ONLY = "Attempt to modify a readonly table"
local frozen = {}
local killed = false
local kit = {}

-- Errors -----------------------------------------------------------------------------------------

local function ours(info)
  return info.source == "=[C]" and info.what ~= "C"
end

-- Raises `message` as luaL_error does: with the place where the innermost function of this chunk
-- was called, if a script called it.
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

-- Raises what luaL_argerror would for argument `number` of the innermost function of this chunk.
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

local function wrong_type(number, expected, count, value)
  local got = number > count and "no value" or type(value)
  bad_argument(number, format("%s expected, got %s", expected, got))
end

-- The number in argument `number` (a number, or a string that reads as one).
local function check_number(number, count, value)
  local result = type(value) == "number" and value or tonumber(value)
  if not result or type(value) == "table" then
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
local function trace(err)
  if killed then
    return killed
  end
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
  if type(err) ~= "table" then
    err = { err = "ERR " .. tostring(err) }
  end
  if info then
    err.source = info.source
    err.line = info.currentline
  end
  return err
end

-- An error table, as Redis' own functions raise it.
local function raise(message)
  error({ err = "ERR " .. message }, 0)
end

kit.fail, kit.bad_argument, kit.wrong_type = fail, bad_argument, wrong_type
kit.check_number, kit.check_string, kit.check_integer = check_number, check_string, check_integer
kit.to_integer, kit.native = to_integer, native

-- Read-only tables ---------------------------------------------------------------------------------

local function refuse_write()
  local info = getinfo(2, "Sl")
  if info and info.currentline > 0 then
    error(info.short_src .. ":" .. info.currentline .. ": " .. READ_ONLY, 0)
  end
  error(READ_ONLY, 0)
end

local function freeze(real)
  local stand_in = setmetatable({}, { __index = real, __newindex = refuse_write, __metatable = false })
  frozen[stand_in] = real
  return stand_in
end

local function missing_global(_, name)
  if type(name) ~= "string" and type(name) ~= "number" then
    fail("Second argument to luaProtectedTableError must be a string or number")
  end
  fail("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'")
end

-- A frozen table that also refuses to be asked for what it has not.
local function freeze_strictly(real)
  return freeze(setmetatable(real, { __index = missing_global }))
end

local lib = {}

function lib.next(...)
  local object, key = ...
  local real = frozen[object]
  if real then
    return next(real, key)
  elseif type(object) ~= "table" then
    wrong_type(1, "table", select("#", ...), object)
  end
  return next(object, key)
end

local frozen_next = lib.next

function lib.pairs(...)
  local object = ...
  if frozen[object] then
    return frozen_next, object, nil
  elseif type(object) ~= "table" then
    wrong_type(1, "table", select("#", ...), object)
  end
  return next, object, nil
end

function lib.rawget(...)
  local object, key = ...
  if type(object) ~= "table" then
    wrong_type(1, "table", select("#", ...), object)
  end
  return rawget(frozen[object] or object, key)
end

function lib.rawset(...)
  local object, key, value = ...
  if frozen[object] then
    error(READ_ONLY, 0)
  elseif type(object) ~= "table" then
    wrong_type(1, "table", select("#", ...), object)
  elseif key == nil or key ~= key then
    error(key == nil and "table index is nil" or "table index is NaN", 0)
  end
  return rawset(object, key, value)
end

local string_meta, globals_meta

function lib.getmetatable(...)
  local object = ...
  if type(object) == "string" then
    return string_meta
  elseif object == kit.env then
    return globals_meta
  elseif frozen[object] or type(object) == "userdata" then
    return nil
  elseif select("#", ...) == 0 then
    bad_argument(1, "value expected")
  end
  return getmetatable(object)
end

function lib.setmetatable(...)
  local object, meta = ...
  if type(object) ~= "table" then
    wrong_type(1, "table", select("#", ...), object)
  elseif meta ~= nil and type(meta) ~= "table" then
    bad_argument(2, "nil or table expected")
  elseif frozen[object] then
    error(READ_ONLY, 0)
  elseif (getmetatable(object) or lib).__metatable ~= nil then
    fail("cannot change a protected metatable")
  end
  return setmetatable(object, meta)
end

local insert, foreach = table.insert, table.foreach

function lib.insert(...)
  if frozen[(...)] then
    error(READ_ONLY, 0)
  end
  local count = select("#", ...)
  local list, position, value = ...
  if type(list) ~= "table" then
    wrong_type(1, "table", count, list)
  elseif count == 2 then
    insert(list, position)
  elseif count == 3 then
    insert(list, check_integer(2, count, position), value)
  else
    fail("wrong number of arguments to 'insert'")
  end
end

function lib.foreach(object, visit)
  return foreach(frozen[object] or object, visit)
end

-- Catching errors ------------------------------------------------------------------------------------

-- Redis' pcall: of an error table only the text comes back.
local function caught(ok, ...)
  if ok then
    return true, ...
  elseif killed then
    error(killed, 0)
  end
  local err = ...
  if type(err) == "table" then
    local text = err.err
    if type(text) == "string" or type(text) == "number" then
      return false, text
    end
    return false, err, text
  end
  return false, err
end

function lib.pcall(...)
  if select("#", ...) == 0 then
    -- Redis' own pcall has no argument check; calling nothing is an error that it catches.
    return false, "attempt to call a nil value"
  end
  return caught(pcall(...))
end

local function caught_plainly(ok, ...)
  if not ok and killed then
    error(killed, 0)
  end
  return ok, ...
end

function lib.xpcall(...)
  local f, handler = ...
  if select("#", ...) < 2 then
    bad_argument(2, "value expected")
  end
  return caught_plainly(xpcall(f, function(err)
    if killed then
      return killed
    end
    return handler(err)
  end))
end

-- Coroutines: hooks belong to a thread, so each new one gets ours.

local co = {}
local create, resume, status = coroutine.create, coroutine.resume, coroutine.status
local hook

function co.create(...)
  local f = ...
  local info = type(f) == "function" and getinfo(f, "S")
  if not info or info.what == "C" then
    bad_argument(1, "Lua function expected")
  end
  local thread = create(f)
  sethook(thread, hook, "", options.hook_count)
  return thread
end

function co.resume(...)
  local thread = ...
  if type(thread) ~= "thread" then
    bad_argument(1, "coroutine expected")
  end
  return caught_plainly(resume(...))
end

local function resumed(ok, ...)
  if ok then
    return ...
  elseif killed then
    error(killed, 0)
  end
  local err = ...
  if type(err) == "string" then
    fail(err)
  end
  error(err, 0)
end

function co.wrap(...)
  local thread = co.create(...)
  return function(...)
    return resumed(resume(thread, ...))
  end
end

co.running, co.status, co.yield = coroutine.running, coroutine.status, coroutine.yield

-- Compiling: Python compiles (and keeps the line numbers of tail calls), bytecode is refused.

local dump, compile = string.dump, native.compile

kit.dump = dump

local function load_text(code, name)
  local chunk, _, message = compile(code, name)
  if chunk == true then
    return nil, message
  end
  return setfenv(chunk, kit.env)
end

function lib.loadstring(...)
  local count = select("#", ...)
  local code, name = ...
  code = check_string(1, count, code)
  return load_text(code, name == nil and code or check_string(2, count, name))
end

function lib.load(...)
  local count = select("#", ...)
  local reader, name = ...
  if type(reader) ~= "function" then
    wrong_type(1, "function", count, reader)
  end
  name = name == nil and "=(load)" or check_string(2, count, name)
  local pieces = {}
  while true do
    local ok, piece = pcall(reader)
    if not ok then
      if killed then
        error(killed, 0)
      end
      return nil, piece
    elseif piece == nil or piece == "" then
      break
    elseif type(piece) ~= "string" and type(piece) ~= "number" then
      return nil, "reader function must return a string"
    end
    pieces[#pieces + 1] = piece
  end
  return load_text(table.concat(pieces), name)
end

-- math.random: the 48-bit generator of Redis, in two 24-bit halves that doubles multiply exactly.

local high, low = 0x1234AB, 0xCD330E -- the state nobody seeded

local function draw()
  local product = low * 0xE66D + 11
  local carry = floor(product / 0x1000000)
  -- The multiplier is 0x5DEECE66D: 0x5DE times 2^24 plus 0xECE66D.
  local full = low * 0xECE66D + 11
  carry = floor(full / 0x1000000)
  local upper = high * 0xECE66D + low * 0x5DE + carry
  low = full - carry * 0x1000000
  high = upper % 0x1000000
  return floor((high * 0x1000000 + low) / 0x20000)
end

local function check_int(number, count, value)
  local n = check_integer(number, count, value)
  return (n + 0x80000000) % 0x100000000 - 0x80000000
end

local function random(...)
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

local function randomseed(...)
  local seed = check_int(1, select("#", ...), (...)) % 0x100000000
  high, low = floor(seed / 0x100), seed % 0x100 * 0x10000 + 0x330E
end

-- string.rep of gigabytes is refused before it is tried.

local rep = string.rep

local function checked_rep(...)
  local count = select("#", ...)
  local text, times = ...
  text, times = check_string(1, count, text), check_integer(2, count, times)
  if #text * times > options.max_string then
    error("not enough memory", 0)
  end
  return rep(text, times)
end

-- The redis table -------------------------------------------------------------------------------------

-- What Python answers is a plain value, or `true`, a kind, and the parts:
local STATUS, ERROR, LIST, BOOLEAN = 1, 2, 3, 4
local MANY = 100 -- arguments; above that Python fetches them from a table

local native_call, native_call_many = native.call, native.call_many

local function made(value, kind, part, ...)
  if value ~= true then
    return value
  elseif kind == STATUS then
    return { ok = part }
  elseif kind == LIST then
    return { part, ... }
  elseif kind == ERROR then
    return { err = part, ignore_error_stats_update = ... }
  end
  return part
end

-- As `made`, and an error is raised.
local function made_or_raised(value, kind, part, ...)
  if value ~= true then
    return value
  elseif kind == STATUS then
    return { ok = part }
  elseif kind == LIST then
    return { part, ... }
  elseif kind == ERROR then
    error({ err = part, ignore_error_stats_update = ... }, 0)
  end
  return part
end

local function call(...)
  local count = select("#", ...)
  if count > MANY then
    local value = made_or_raised(native_call_many(count, { ... }))
    return value
  end
  local value = made_or_raised(native_call(...))
  return value
end

local function protected_call(...)
  local count = select("#", ...)
  if count > MANY then
    return made(native_call_many(count, { ... }))
  end
  return made(native_call(...))
end

local redis = { call = call, pcall = protected_call }

function redis.error_reply(...)
  if select("#", ...) ~= 1 or type((...)) ~= "string" then
    return { err = "ERR wrong number or type of arguments" }
  end
  return { err = native.error_text((...)) }
end

function redis.status_reply(...)
  if select("#", ...) ~= 1 or type((...)) ~= "string" then
    return { err = "ERR wrong number or type of arguments" }
  end
  return { ok = (...) }
end

function redis.sha1hex(...)
  if select("#", ...) ~= 1 then
    raise("wrong number of arguments")
  end
  local value = ...
  local kind = type(value)
  return native.sha1hex((kind == "string" or kind == "number") and tostring(value) or "")
end

function redis.log(...)
  local count = select("#", ...)
  local level = ...
  if count < 2 then
    raise("redis.log() requires two arguments or more.")
  elseif type(level) ~= "number" and not (type(level) == "string" and tonumber(level)) then
    raise("First argument must be a number (log level).")
  end
  level = to_integer(tonumber(level))
  if level < 0 or level > 3 then
    raise(options.log_level_error)
  end
  local parts = {}
  for i = 2, count do
    local value = (select(i, ...))
    local kind = type(value)
    if kind == "string" or kind == "number" then
      parts[#parts + 1] = (i > 2 and " " or "") .. value
    end
  end
  native.log(level, table.concat(parts))
end

local function number_argument(value)
  return to_integer(type(value) ~= "table" and tonumber(value) or 0)
end

function redis.setresp(...)
  if select("#", ...) ~= 1 then
    raise("redis.setresp() requires one argument.")
  end
  local version = number_argument((...))
  if version ~= 2 and version ~= 3 then
    raise("RESP version must be 2 or 3.")
  end
  native.set_resp(version)
end

function redis.set_repl(...)
  if select("#", ...) ~= 1 then
    raise(options.set_repl_error)
  end
  local flags = number_argument((...))
  if flags < 0 or flags > 3 then
    raise("Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
  end
  native.set_repl(flags)
end

function redis.acl_check_cmd(...)
  local value = made_or_raised(native.acl_check(...))
  return value
end

redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING = 0, 1, 2, 3
redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL = 0, 1, 2, 2, 3
redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = options.version, options.version_number

-- Libraries: the room's other Lua files, each a function of `kit`.

local libraries = {}
for name, code in python.iterex(options.libraries.items()) do
  libraries[name] = assert(loadstring(code, "=[C]"))(kit)
end

-- What each environment holds ---------------------------------------------------------------------------

local function copy(source, names)
  local result = {}
  for name in names:gmatch("%S+") do
    result[name] = source[name]
  end
  return result
end

local strings = copy(string, "byte char dump find format gfind gmatch gsub len lower match rep "
  .. "reverse sub upper")
strings.rep = checked_rep
for name in pairs(string) do
  string[name] = strings[name] -- methods of strings find their functions here
end

local tables = copy(table, "concat foreachi getn maxn remove setn sort")
tables.insert, tables.foreach = lib.insert, lib.foreach

local maths = copy(math, "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp "
  .. "log log10 max min mod modf pi pow rad sin sinh sqrt tan tanh")
maths.random, maths.randomseed = random, randomseed

local function base_globals()
  local result = copy(_G, "_VERSION assert collectgarbage error gcinfo ipairs rawequal select "
    .. "tonumber tostring type unpack")
  for name, f in pairs(lib) do
    if name ~= "insert" and name ~= "foreach" then
      result[name] = f
    end
  end
  result.coroutine = freeze(co)
  result.string, result.table, result.math = freeze(string), freeze(tables), freeze(maths)
  for name, library in pairs(libraries) do
    result[name] = freeze(library)
  end
  if options.os_clock then
    result.os = freeze({ clock = os.clock })
  end
  return result
end

local globals = base_globals()
local script_redis = copy(redis, "acl_check_cmd call error_reply log pcall set_repl setresp sha1hex "
  .. "status_reply LOG_DEBUG LOG_VERBOSE LOG_NOTICE LOG_WARNING REPL_NONE REPL_AOF REPL_SLAVE "
  .. "REPL_REPLICA REPL_ALL REDIS_VERSION REDIS_VERSION_NUM")
function script_redis.breakpoint()
  return false
end
function script_redis.debug() end
function script_redis.replicate_commands()
  return true
end
globals.redis = freeze(script_redis)
globals.__redis__err__handler = trace
kit.env = freeze_strictly(globals)
globals._G = kit.env
string_meta = freeze({ __index = globals.string })
globals_meta = freeze({ __index = missing_global })

-- Results ---------------------------------------------------------------------------------------------

-- A result is a plain value if it can be, else: a kind, then parts (see `convert.py`).
local FLAT, NESTED, FAILURE, LONG = 1, 2, 3, 4
local SCALAR, ARRAY, MAP, SET, STATUS_REPLY, ERROR_REPLY, DOUBLE, BIG, VERBATIM, NULL, LIMIT =
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local MAX_RESULTS = 4000 -- values returned at once; Lua's stack has room for 8000
local MAX_DEPTH = options.max_depth

local flatten

-- Appends kind and value of `value` to `out`, and all that is within; returns the new length.
local function put(out, n, value, depth)
  local kind = type(value)
  if kind == "string" or kind == "number" or kind == "boolean" then
    out[n + 1], out[n + 2] = SCALAR, value
    return n + 2
  elseif kind ~= "table" then
    out[n + 1], out[n + 2] = NULL, 0
    return n + 2
  end
  return flatten(out, n, frozen[value] or value, depth + 1)
end

local function put_pair(out, n, kind, value)
  out[n + 1], out[n + 2] = kind, value
  return n + 2
end

local function put_keys(out, n, kind, items, depth)
  local place, count = n + 2, 0
  out[n + 1] = kind
  out[place] = 0
  n = place
  for key, value in next, items do
    n = put(out, n, key, depth)
    if kind == MAP then
      n = put(out, n, value, depth)
    end
    count = count + 1
  end
  out[place] = count
  return n
end

function flatten(out, n, value, depth)
  if depth > MAX_DEPTH then
    return put_pair(out, n, LIMIT, 0)
  end
  local field = rawget(value, "err")
  if type(field) == "string" then
    return put_pair(out, n, ERROR_REPLY, value.err)
  end
  field = rawget(value, "ok")
  if type(field) == "string" then
    return put_pair(out, n, STATUS_REPLY, field)
  end
  field = rawget(value, "double")
  if type(field) == "number" then
    return put_pair(out, n, DOUBLE, field)
  end
  field = rawget(value, "big_number")
  if type(field) == "string" then
    return put_pair(out, n, BIG, field)
  end
  field = rawget(value, "verbatim_string")
  if type(field) == "table" then
    local style, text = rawget(field, "format"), rawget(field, "string")
    if type(style) == "string" and type(text) == "string" then
      n = put_pair(out, n, VERBATIM, style)
      return put_pair(out, n, SCALAR, text)
    end
  end
  field = rawget(value, "map")
  if type(field) == "table" then
    return put_keys(out, n, MAP, field, depth)
  end
  field = rawget(value, "set")
  if type(field) == "table" then
    return put_keys(out, n, SET, field, depth)
  end
  local place = n + 2
  out[n + 1] = ARRAY
  out[place] = 0
  n = place
  local index = 1
  local item = rawget(value, 1)
  while item ~= nil do
    n = put(out, n, item, depth)
    index = index + 1
    item = rawget(value, index)
  end
  out[place] = index - 1
  return n
end

-- The values of a table without anything nested, or nil.
local function flat_length(value)
  if next(value) ~= nil and rawget(value, 1) == nil then
    return nil
  end
  local n = 0
  local item = value[1]
  while item ~= nil do
    local kind = type(item)
    if kind ~= "string" and kind ~= "number" then
      return nil
    end
    n = n + 1
    item = value[n + 1]
  end
  return n
end

local waiting -- a long result, fetched piece by piece

local function table_result(value)
  value = frozen[value] or value
  if getmetatable(value) == nil and rawget(value, "err") == nil and rawget(value, "ok") == nil
    and rawget(value, "map") == nil and rawget(value, "set") == nil and rawget(value, "double") == nil
    and rawget(value, "big_number") == nil and rawget(value, "verbatim_string") == nil then
    local n = flat_length(value)
    if n and n <= MAX_RESULTS then
      return FLAT, unpack(value, 1, n)
    end
  end
  local out = {}
  local n = flatten(out, 0, value, 1)
  if n <= MAX_RESULTS then
    return NESTED, unpack(out, 1, n)
  end
  waiting = out
  return LONG, n
end

local function fetch(first, last)
  return unpack(waiting, first, last)
end

-- An error that ended a run: its text, whether it was counted, and source and line if known.
local function failure(err)
  if type(err) ~= "table" then
    return FAILURE, false, tostring(err)
  end
  local text = err.err
  if type(text) ~= "string" and type(text) ~= "number" then
    text = false
  end
  local counted = err.ignore_error_stats_update == true
  local source, line = err.source, err.line
  if (type(source) == "string" or type(source) == "number")
    and (type(line) == "string" or type(line) == "number") then
    return FAILURE, true, text, counted, tostring(source), tostring(line)
  end
  return FAILURE, true, text, counted
end

local function result(ok, value)
  if not ok then
    return failure(value)
  end
  local kind = type(value)
  if kind == "table" then
    return table_result(value)
  elseif kind == "string" or kind == "number" or kind == "boolean" then
    return value
  end
  return nil
end

-- Running ---------------------------------------------------------------------------------------------

-- run[n](script, key 1 .. key n, arguments ...) for the usual small n, else run_tables.
local runners = {}
for n = 0, options.max_keys do
  local names = {}
  for i = 1, n do
    names[i] = "k" .. i
  end
  local keys = table.concat(names, ",")
  runners[n] = assert(loadstring(format([[
    local globals, xpcall, trace, result = ...
    return function(script%s, ...)
      globals.KEYS = {%s}
      globals.ARGV = {...}
      return result(xpcall(script, trace))
    end]], n > 0 and "," .. keys or "", keys), "=[C]"))(globals, xpcall, trace, result)
end

local function run_tables(script, keys, arguments)
  globals.KEYS = keys
  globals.ARGV = arguments
  return result(xpcall(script, trace))
end

local function call_function(callback, keys, arguments)
  return result(xpcall(function()
    return callback(keys, arguments)
  end, trace))
end

-- The hook -------------------------------------------------------------------------------------------

local on_hook = native.on_hook

function hook()
  local message = on_hook()
  if message then
    killed = { err = message }
    error(killed, 0)
  end
end

local function arm(on)
  killed = false
  if on then
    sethook(hook, "", options.hook_count)
  else
    sethook()
  end
end

local function adopt(chunk)
  return setfenv(chunk, kit.env)
end

-- From here on the state's own global table is empty: nothing runs in it but lupa's calls.
local exported = {
  adopt = adopt, arm = arm, call_function = call_function, dump = dump, fetch = fetch,
  run_tables = run_tables, memory = gcinfo, collect = collectgarbage, unpack = unpack,
}
for name in pairs(_G) do
  _G[name] = nil
end
return exported, runners
