-- The `redis` table: commands, replies, log and settings of the running script.
--
-- A native function answers with a plain value, or with `true`, a kind and parts, from which `made` makes
-- the Lua value here, where tables are cheap. A nested reply comes as a row of tokens: scalars as
-- they are, and for a table a marker, the number of items, and the items. See `convert.py`.

local kit = ...
local native, options = kit.native, kit.options
local end_run, raise, to_integer = kit.end_run, kit.raise, kit.to_integer
local error, select, tonumber, tostring, type = error, select, tonumber, tostring, type
local concat = table.concat

local STATUS, ERROR, LIST, VALUE, PANIC, TREE, TREE_TABLE = 1, 2, 3, 4, 5, 6, 7
local ARRAY, PAIRS = {}, {}
kit.markers = { array = ARRAY, pairs = PAIRS }

-- The value that starts at `at`, and the position after it.
local function tree(tokens, at)
  local token = tokens[at]
  if token == ARRAY then
    local count = tokens[at + 1]
    local result = {}
    at = at + 2
    for i = 1, count do
      local item = tokens[at]
      if item == ARRAY or item == PAIRS then
        result[i], at = tree(tokens, at)
      else
        result[i] = item
        at = at + 1
      end
    end
    return result, at
  elseif token == PAIRS then
    local count = tokens[at + 1]
    local result = {}
    at = at + 2
    for _ = 1, count do
      local key, value
      key, at = tree(tokens, at)
      value, at = tree(tokens, at)
      result[key] = value
    end
    return result, at
  end
  return token, at + 1
end

local function made_rarely(kind, part, ...)
  if kind == TREE then
    local result = tree({ part, ... }, 1)
    return result
  elseif kind == TREE_TABLE then
    local result = tree(part, 1)
    return result
  elseif kind == VALUE then
    return part
  elseif kind == PANIC then
    end_run(part)
  end
  return { err = part, ignore_error_stats_update = ... }
end

local function made(value, kind, part, ...)
  if value ~= true then
    return value
  elseif kind == STATUS then
    return { ok = part }
  elseif kind == LIST then
    return { part, ... }
  end
  return made_rarely(kind, part, ...)
end

-- As `made`, but an error is raised.
local function made_or_raised(value, kind, part, ...)
  if value ~= true then
    return value
  elseif kind == STATUS then
    return { ok = part }
  elseif kind == LIST then
    return { part, ... }
  elseif kind == ERROR then
    error(made_rarely(kind, part, ...), 0)
  end
  return made_rarely(kind, part, ...)
end

local native_call, native_call_many = kit.raw_native.call, native.call_many
local gcinfo, make_room, room_ends = gcinfo, kit.make_room, options.room_ends
local redis = {}
kit.redis = redis

function redis.call(...)
  if gcinfo() > room_ends then
    make_room()
  end
  local _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, more = ...
  if more == nil then -- a cheaper question than how many they are
    return made_or_raised(native_call(...))
  end
  return made_or_raised(native_call_many(select("#", ...), { ... }))
end

function redis.pcall(...)
  if gcinfo() > room_ends then
    make_room()
  end
  local _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, more = ...
  if more == nil then
    return made(native_call(...))
  end
  return made(native_call_many(select("#", ...), { ... }))
end

if options.signed_zeros then
  local call, pcall, signed = redis.call, redis.pcall, kit.signed
  function redis.call(...)
    return call(signed(...))
  end
  function redis.pcall(...)
    return pcall(signed(...))
  end
end

local function is_text(...)
  return select("#", ...) == 1 and type((...)) == "string"
end

function redis.error_reply(...)
  if not is_text(...) then
    return { err = "ERR wrong number or type of arguments" }
  end
  return { err = native.error_text((...)) }
end

function redis.status_reply(...)
  if not is_text(...) then
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

-- A number as C's lua_tonumber gives it, cut to an integer; 0 for what is none.
local function integer_of(value)
  local kind = type(value)
  return to_integer((kind == "number" or kind == "string") and tonumber(value) or 0)
end

function redis.log(...)
  local count = select("#", ...)
  local level = ...
  if count < 2 then
    raise("redis.log() requires two arguments or more.")
  elseif type(level) ~= "number" and not (type(level) == "string" and tonumber(level)) then
    raise("First argument must be a number (log level).")
  end
  level = integer_of(level)
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
  made(native.log(level, concat(parts)))
end

function redis.setresp(...)
  if select("#", ...) ~= 1 then
    raise("redis.setresp() requires one argument.")
  end
  local version = integer_of((...))
  if version ~= 2 and version ~= 3 then
    raise("RESP version must be 2 or 3.")
  end
  made(native.set_resp(version))
end

function redis.set_repl(...)
  if select("#", ...) ~= 1 then
    raise(options.set_repl_error)
  end
  local flags = integer_of((...))
  if flags < 0 or flags > 3 then
    raise("Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
  end
  made(native.set_repl(flags))
end

function redis.acl_check_cmd(...)
  return made_or_raised(native.acl_check(...))
end

redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING = 0, 1, 2, 3
redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL = 0, 1, 2, 2, 3
redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = options.version, options.version_number
