-- Functions that catch errors, make threads or compile code: each must keep to the sandbox's rules.
--
-- Catching: `kit.killed` is thrown on (see `errors.lua`). Threads: hooks belong to a thread, so each
-- new one gets ours. Compiling: Python does it (it keeps the lines of tail calls), the new function
-- lives in the environment of its caller's kind, and bytecode is refused.

local kit = ...
local fail, bad_argument, wrong_type = kit.fail, kit.bad_argument, kit.wrong_type
local check_string, end_run = kit.check_string, kit.end_run
local error, pcall, select, type, xpcall = error, pcall, select, type, xpcall
local concat, setfenv, sethook, unpack = table.concat, setfenv, debug.sethook, unpack
local create, resume = coroutine.create, coroutine.resume

local lib = kit.base

-- Redis' pcall: of an error table only the text comes back.
local function caught(ok, ...)
  if ok then
    return true, ...
  elseif kit.killed then
    error(kit.killed, 0)
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
    return false, "attempt to call a boolean value" -- the place Redis keeps for its result
  end
  return caught(pcall(...))
end

local function caught_plainly(ok, ...)
  if not ok and kit.killed then
    error(kit.killed, 0)
  end
  return ok, ...
end

function lib.xpcall(...)
  local f, handler = ...
  if select("#", ...) < 2 then
    bad_argument(2, "value expected")
  end
  return caught_plainly(xpcall(f, function(err)
    if kit.killed then
      return kit.killed
    end
    return handler(err)
  end))
end

-- In C the number of results overflows where the bounds are far apart.

local MOST = 8000 -- arguments and results that C functions may have on Lua's stack

-- A bound as C makes an int of it.
local function bound(number, count, value)
  local integer = kit.check_integer(number, count, value) % 4294967296
  return integer < 2147483648 and integer or integer - 4294967296
end

function lib.unpack(...)
  local count = select("#", ...)
  local list, first, last = ...
  if type(list) ~= "table" then
    wrong_type(1, "table", count, list)
  end
  first = first == nil and 1 or bound(2, count, first)
  last = last == nil and #list or bound(3, count, last)
  if last - first >= MOST - count then
    fail("too many results to unpack")
  end
  return unpack(...)
end

-- The hook ---------------------------------------------------------------------------------------------

local on_hook = kit.raw_native.on_hook

local function hook()
  local message = on_hook()
  if message then
    end_run(message)
  end
end

sethook(hook, "", kit.options.hook_count)

-- Coroutines -------------------------------------------------------------------------------------------

local threads = { running = coroutine.running, status = coroutine.status, yield = coroutine.yield }
kit.threads = threads

function threads.create(...)
  local f = ...
  if type(f) ~= "function" or kit.is_native(f) then
    bad_argument(1, "Lua function expected")
  end
  local thread = create(f)
  sethook(thread, hook, "", kit.options.hook_count)
  return thread
end

function threads.resume(...)
  if type((...)) ~= "thread" then
    bad_argument(1, "coroutine expected")
  end
  return caught_plainly(resume(...))
end

local function resumed(ok, ...)
  if ok then
    return ...
  elseif kit.killed then
    error(kit.killed, 0)
  end
  local err = ...
  if type(err) == "string" then
    fail(err)
  end
  error(err, 0)
end

function threads.wrap(...)
  local thread = threads.create(...)
  return function(...)
    return resumed(resume(thread, ...))
  end
end

-- Compiling --------------------------------------------------------------------------------------------

local compile = kit.native.compile

-- All pieces that `reader` gives, or nil and the error.
local function read_pieces(reader)
  local pieces = {}
  while true do
    local ok, piece = pcall(reader)
    if not ok then
      if kit.killed then
        error(kit.killed, 0)
      end
      return nil, piece
    elseif piece == nil or piece == "" then
      return concat(pieces)
    elseif type(piece) ~= "string" and type(piece) ~= "number" then
      return nil, "reader function must return a string"
    end
    pieces[#pieces + 1] = piece
  end
end

-- `load` and `loadstring` for the environment that `get_env` gives.
function kit.loaders(get_env)
  local function load_text(code, name)
    local chunk, _, message = compile(code, name)
    if chunk == true then
      return nil, message
    end
    return setfenv(chunk, get_env())
  end

  local function load(...)
    local count = select("#", ...)
    local reader, name = ...
    if type(reader) ~= "function" then
      wrong_type(1, "function", count, reader)
    end
    name = name == nil and "=(load)" or check_string(2, count, name)
    local code, err = read_pieces(reader)
    if not code then
      return nil, err
    end
    return load_text(code, name)
  end

  local function loadstring(...)
    local count = select("#", ...)
    local code, name = ...
    code = check_string(1, count, code)
    return load_text(code, name == nil and code or check_string(2, count, name))
  end

  return load, loadstring
end
