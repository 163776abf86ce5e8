-- Read-only tables, and the functions that must see through them.
--
-- Redis' Lua has a flag that makes a table read-only, stock Lua has not. So each shared table is hidden
-- behind an empty stand-in, whose metatable reads from the real one and refuses writes; `frozen` maps
-- the stand-in to the real table. The functions that look at a table without asking its metatable are
-- wrapped to look at the real one, and `getmetatable` shows what Redis shows.
--
-- What this misses: `table.insert(string, x)` is not refused, it puts `x` into the stand-in. It stays
-- Lua's own function because scripts need it fast; `sweep` empties the stand-ins before each new script.

local kit = ...
local fail, bad_argument, wrong_type = kit.fail, kit.bad_argument, kit.wrong_type
local error, getmetatable, next, rawget, rawset = error, getmetatable, next, rawget, rawset
local select, setmetatable, tostring, type = select, setmetatable, tostring, type
local foreach = table.foreach

local READ_ONLY = "Attempt to modify a readonly table"
local frozen = {}
local lib = {}
kit.base, kit.frozen = lib, frozen

local function refuse_write()
  fail(READ_ONLY)
end

-- A stand-in through which `real` can be read only.
local function freeze(real)
  local stand_in = setmetatable({}, { __index = real, __newindex = refuse_write })
  frozen[stand_in] = real
  return stand_in
end

local function missing_global(_, name)
  if type(name) ~= "string" and type(name) ~= "number" then
    fail("Second argument to luaProtectedTableError must be a string or number")
  end
  fail("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'")
end

local strict_meta = { __index = missing_global }

-- A stand-in that also refuses to be asked for what is not there.
function kit.freeze_strictly(real)
  return freeze(setmetatable(real, strict_meta))
end

-- The real table behind a stand-in, or the object itself.
function kit.thaw(object)
  return frozen[object] or object
end

function kit.sweep()
  for stand_in in next, frozen do
    for key in next, stand_in do
      stand_in[key] = nil
    end
  end
end

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

local string_meta, strict_stand_in = nil, freeze(strict_meta)

-- `getmetatable('')` is a read-only table whose __index is the read-only `strings`.
function kit.set_string_meta(strings)
  string_meta = freeze({ __index = strings })
end

function lib.getmetatable(...)
  local object = ...
  if type(object) == "string" then
    return string_meta
  elseif frozen[object] then
    return getmetatable(frozen[object]) and strict_stand_in
  elseif type(object) == "userdata" then
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
  elseif meta ~= nil and type(meta) ~= "table" or select("#", ...) < 2 then
    bad_argument(2, "nil or table expected")
  elseif frozen[object] then
    error(READ_ONLY, 0)
  end
  local old = getmetatable(object)
  if old ~= nil and (type(old) ~= "table" or rawget(old, "__metatable") ~= nil) then
    fail("cannot change a protected metatable")
  end
  return setmetatable(object, meta)
end

function kit.foreach(object, visit)
  return foreach(frozen[object] or object, visit)
end

kit.freeze, kit.refuse_write = freeze, refuse_write
