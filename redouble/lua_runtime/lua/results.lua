-- What a run gives back to Python.
--
-- A string, number or boolean is given as it is, what has no reply (a function, nil) as nil. A table is
-- flattened: `FLAT, n` and n strings or numbers where nothing is nested, else `NESTED, n` and n tokens,
-- in pairs of a kind and a value; `OK` and the text for the usual status reply. A result too long to be returned at once waits in `waiting` to be fetched.
-- A failure is `FAILURE` and what is known of it.

local kit = ...
local thaw, is_negative_zero = kit.thaw, kit.is_negative_zero
local collectgarbage, getmetatable, next, rawget, tostring, type, unpack = collectgarbage, getmetatable, next, rawget, tostring, type, unpack

local FLAT, NESTED, FAILURE, LONG, OK, LONG_FLAT = 1, 2, 3, 4, 5, 6
local SCALAR, ARRAY, MAP, SET, STATUS, ERROR, DOUBLE, BIG_NUMBER, VERBATIM, NULL, LIMIT =
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local MAX_RESULTS = 4000 -- values returned at once; Lua's stack has room for 8000
local MAX_DEPTH = kit.options.max_depth

local waiting

-- A table without metatable: `value` itself, or its raw contents.
local function plain(value)
  value = thaw(value)
  if getmetatable(value) == nil then
    return value
  end
  local copy = {}
  for key, item in next, value do
    copy[key] = item
  end
  return copy
end

-- Is this one of the tables that stand for a reply of another type?
local function is_typed(value)
  return value.err ~= nil or value.ok ~= nil or value.double ~= nil or value.big_number ~= nil
    or value.verbatim_string ~= nil or value.map ~= nil or value.set ~= nil
end

local put

-- `depth` counts the places that C would use of its Lua stack: one for an item of an array, three or four for a pair.
local function put_keys(out, n, kind, items, depth)
  local place, count = n + 2, 0
  out[n + 1], out[place] = kind, 0
  n = place
  for key, value in next, items do
    if kind == MAP then
      n = put(out, n, key, depth + 4)
      n = put(out, n, value, depth + 3)
    else
      n = put(out, n, key, depth + 3)
    end
    count = count + 1
  end
  out[place] = count
  return n
end

-- Appends the tokens of a typed table, in Redis' order of fields; nil if it is none after all.
local function put_typed(out, n, value, depth)
  local kind, content
  if type(value.err) == "string" then
    kind, content = ERROR, value.err
  elseif type(value.ok) == "string" then
    kind, content = STATUS, value.ok
  elseif type(value.double) == "number" then
    kind, content = DOUBLE, value.double
    if is_negative_zero(content) then
      content = "-0"
    end
  elseif type(value.big_number) == "string" then
    kind, content = BIG_NUMBER, value.big_number
  else
    local verbatim = value.verbatim_string
    if type(verbatim) == "table" then
      local style, text = rawget(verbatim, "format"), rawget(verbatim, "string")
      if type(style) == "string" and type(text) == "string" then
        out[n + 1], out[n + 2], out[n + 3], out[n + 4] = VERBATIM, style, SCALAR, text
        return n + 4
      end
    end
    if type(value.map) == "table" then
      return put_keys(out, n, MAP, thaw(value.map), depth)
    elseif type(value.set) == "table" then
      return put_keys(out, n, SET, thaw(value.set), depth)
    end
    return nil
  end
  out[n + 1], out[n + 2] = kind, content
  return n + 2
end

local function put_table(out, n, value, depth)
  value = plain(value)
  local stop = is_typed(value) and put_typed(out, n, value, depth)
  if stop then
    return stop
  end
  local place, index = n + 2, 1
  out[n + 1], out[place] = ARRAY, 0
  n = place
  local item = value[1]
  while item ~= nil do
    n = put(out, n, item, depth + 1)
    index = index + 1
    item = value[index]
  end
  out[place] = index - 1
  return n
end

-- Appends the tokens of `value` and all that is within; returns the new length.
function put(out, n, value, depth)
  local kind = type(value)
  if depth > MAX_DEPTH then
    out[n + 1], out[n + 2] = LIMIT, 0
  elseif kind == "table" then
    return put_table(out, n, value, depth)
  elseif kind == "string" or kind == "number" or kind == "boolean" then
    out[n + 1], out[n + 2] = SCALAR, value
  else
    out[n + 1], out[n + 2] = NULL, 0
  end
  return n + 2
end

-- The length of an array of strings and numbers, nil if it holds anything else.
local function flat_length(value)
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

local function table_result(value)
  value = plain(value)
  if not is_typed(value) then
    local n = flat_length(value)
    if n and n <= MAX_RESULTS then
      return FLAT, n, unpack(value, 1, n)
    elseif n then
      waiting = value
      return LONG_FLAT, n
    end
  elseif type(value.ok) == "string" and value.err == nil then
    return OK, value.ok
  elseif type(value.err) == "string" and value.ignore_error_stats_update == true then
    return FAILURE, true, value.err, true
  end
  local out = {}
  local n = put_table(out, 0, value, 1)
  if n <= MAX_RESULTS then
    return NESTED, n, unpack(out, 1, n)
  end
  waiting = out
  return LONG, n
end

-- Values `first` to `last` of the long result.
function kit.fetch(first, last)
  return unpack(waiting, first, last)
end

function kit.forget_long_result()
  waiting = nil
end

local function is_text(value)
  return type(value) == "string" or type(value) == "number"
end

-- An error that ended a run: is it an error table; its text; was it counted; source and line.
local function failure(err)
  kit.killed = false
  if type(err) ~= "table" then -- Lua ran out of memory
    collectgarbage()
    return FAILURE, false, tostring(err), false
  end
  local text = is_text(err.err) and tostring(err.err) or false
  local counted = err.ignore_error_stats_update == true
  if is_text(err.source) and is_text(err.line) then
    return FAILURE, true, text, counted, tostring(err.source), tostring(err.line)
  end
  return FAILURE, true, text, counted
end

-- What Python gets for the results of xpcall.
function kit.result(ok, value)
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
