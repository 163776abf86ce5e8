-- The `cjson` library: JSON as Redis' Lua CJSON 2.1.0 reads and writes it.
--
-- Writing. A table whose keys are all integers from 1 up is an array, with null in its holes, unless
-- it is sparse beyond the limits; an empty one is an object. Numbers have 14 digits.
-- Reading. The usual forms (a string without escapes, a decimal number) are found by one pattern each; all
-- else, and all that is wrong, goes through `next_token`, which tells tokens and positions as CJSON does.
-- Like CJSON it takes a zero byte for the end, and reads numbers as C's strtod does.
--
-- All limits can be set by scripts; the shared library's settings hold for all scripts, as in Redis.

local kit = ...
local check_integer, check_string = kit.check_integer, kit.check_string
local fail, bad_argument, native = kit.fail, kit.bad_argument, kit.native
local byte, char, find, format, gsub, sub = string.byte, string.char, string.find, string.format, string.gsub, string.sub
local concat, floor, select, type, next = table.concat, math.floor, select, type, next
local tostring, tonumber = tostring, tonumber

local null, frozen = kit.null, kit.frozen
local HUGE, MAX_INT = math.huge, 2147483647

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["/"] = "\\/", ["\127"] = "\\u007f" }
for code = 0, 31 do
  escapes[char(code)] = format("\\u%04x", code)
end
escapes["\b"], escapes["\t"], escapes["\n"], escapes["\f"], escapes["\r"] = "\\b", "\\t", "\\n", "\\f", "\\r"
local ESCAPED = '[%z\1-\31"\\/\127]'

-- Writing --------------------------------------------------------------------------------------------

local function cannot(value, reason)
  fail("Cannot serialise " .. (type(value)) .. ": " .. reason)
end

local function quoted(text)
  if find(text, ESCAPED) then
    text = gsub(text, ESCAPED, escapes)
  end
  return '"' .. text .. '"'
end

-- Digits are the usual numbers.
local DIGITS = {}
for digit = 1, 9 do
  DIGITS[digit] = format("%d", digit)
end

-- Names are few and come again: their texts are kept, up to a thousand.
local names, name_count = {}, 0

local function quoted_name(text)
  local result = names[text]
  if not result then
    if name_count >= 1000 then
      names, name_count = {}, 0
    end
    result = quoted(text) .. ":"
    if #text <= 64 then
      names[text] = result
      name_count = name_count + 1
    end
  end
  return result
end

local function number_text(settings, value)
  if value ~= value or value == HUGE or value == -HUGE then
    if settings.encode_invalid_numbers == "off" then
      cannot(value, "must not be NaN or Inf")
    elseif settings.encode_invalid_numbers == "null" then
      return "null"
    elseif value ~= value then
      return "nan"
    end
  end
  return format(settings.number_format, value)
end

-- The length of the array that `value` is, or nil.
local function array_length(settings, value)
  local highest, count = 0, 0
  for key in next, value do
    if type(key) ~= "number" or key < 1 or floor(key) ~= key then
      return nil
    end
    if key > highest then
      highest = key
    end
    count = count + 1
  end
  if highest > settings.sparse_safe and settings.sparse_ratio > 0
    and highest > count * settings.sparse_ratio then
    if not settings.sparse_convert then
      cannot(value, "excessively sparse array")
    end
    return nil
  end
  return highest > 0 and highest or nil
end

local put

local function name_text(settings, key)
  local kind = type(key)
  if kind == "string" then
    return quoted_name(key)
  elseif kind == "number" then
    return '"' .. number_text(settings, key) .. '":'
  end
  cannot(key, "table key must be a number or string")
end

local function put_object(settings, out, n, value, depth)
  local before = "{"
  for key, item in next, value do
    out[n + 1], out[n + 2] = before, names[key] or name_text(settings, key)
    before = ","
    n = put(settings, out, n + 2, item, depth)
  end
  out[n + 1] = before == "{" and "{}" or "}"
  return n + 1
end

function put(settings, out, n, value, depth)
  local kind = type(value)
  if kind == "string" then
    out[n + 1] = quoted(value)
    return n + 1
  elseif kind == "number" then
    if DIGITS[value] then
      out[n + 1] = DIGITS[value]
    elseif value - value == 0 and settings.precision == 14 then
      out[n + 1] = value -- concat writes numbers with 14 digits
    else
      out[n + 1] = number_text(settings, value)
    end
    return n + 1
  elseif kind == "boolean" then
    out[n + 1] = value and "true" or "false"
    return n + 1
  elseif value == nil or value == null then
    out[n + 1] = "null"
    return n + 1
  elseif kind ~= "table" then
    cannot(value, "type not supported")
  end
  depth = depth + 1
  if depth > settings.encode_max_depth then
    fail("Cannot serialise, excessive nesting (" .. depth .. ")")
  end
  value = frozen[value] or value
  local length = not names[next(value)] and array_length(settings, value)
  if not length then -- as told at once by a first key that has been a name before
    return put_object(settings, out, n, value, depth)
  end
  local before = "["
  for i = 1, length do
    out[n + 1] = before
    before = ","
    n = put(settings, out, n + 1, value[i], depth)
  end
  out[n + 1] = "]"
  return n + 1
end

-- Reading --------------------------------------------------------------------------------------------

local TOKENS = {
  ["{"] = "T_OBJ_BEGIN", ["}"] = "T_OBJ_END", ["["] = "T_ARR_BEGIN", ["]"] = "T_ARR_END",
  [","] = "T_COMMA", [":"] = "T_COLON", ["\0"] = "T_END", [""] = "T_END",
}
local UNESCAPED = { b = "\b", t = "\t", n = "\n", f = "\f", r = "\r", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }
local WORDS = { { "true", "T_BOOLEAN", true }, { "false", "T_BOOLEAN", false }, { "null", "T_NULL" } }

local function utf8(code)
  if code < 0x80 then
    return char(code)
  elseif code < 0x800 then
    return char(0xC0 + floor(code / 64), 0x80 + code % 64)
  elseif code < 0x10000 then
    return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
  end
  return char(0xF0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64, 0x80 + floor(code / 64) % 64,
    0x80 + code % 64)
end

local function hex4(text, at)
  local digits = sub(text, at, at + 3)
  return find(digits, "^%x%x%x%x$") and tonumber(digits, 16)
end

-- The character a \u escape at `at` spells and the position after it, or nil.
local function unicode_escape(text, at)
  local code = hex4(text, at + 2)
  if not code then
    return nil
  elseif code < 0xD800 or code > 0xDFFF then
    return utf8(code), at + 6
  elseif code >= 0xDC00 or sub(text, at + 6, at + 7) ~= "\\u" then
    return nil
  end
  local low = hex4(text, at + 8)
  if not low or low < 0xDC00 or low > 0xDFFF then
    return nil
  end
  return utf8(0x10000 + (code - 0xD800) * 1024 + low - 0xDC00), at + 12
end

-- Each token: its type, its value, the position after it, and its own position (for errors).

local function string_token(text, start)
  local pieces, n, at = {}, 0, start + 1
  while true do
    local stop = find(text, '[%z"\\]', at)
    local mark = stop and sub(text, stop, stop) or ""
    if mark ~= '"' and mark ~= "\\" then
      return "T_ERROR", "unexpected end of string", at, stop or #text + 1
    end
    n = n + 1
    pieces[n] = sub(text, at, stop - 1)
    if mark == '"' then
      return "T_STRING", concat(pieces), stop + 1, start
    end
    local escape = sub(text, stop + 1, stop + 1)
    n = n + 1
    if escape == "u" then
      pieces[n], at = unicode_escape(text, stop)
      if not at then
        return "T_ERROR", "invalid unicode escape code", stop, stop
      end
    else
      pieces[n], at = UNESCAPED[escape], stop + 2
      if not pieces[n] then
        return "T_ERROR", "invalid escape code", stop, stop
      end
    end
  end
end

-- A number that strict JSON does not know: with a plus, leading zeros, hexadecimal, infinite, NaN.
local function is_invalid_number(text, at)
  if sub(text, at, at) == "+" then
    return true
  elseif sub(text, at, at) == "-" then
    at = at + 1
  end
  local first = sub(text, at, at)
  if first == "0" then
    return find(text, "^[xX0-9]", at + 1) ~= nil
  elseif first <= "9" then
    return false
  end
  local word = sub(text, at, at + 2):lower()
  return word == "inf" or word == "nan"
end

local function number_token(text, start)
  local value, size = native.strtod(sub(text, start, start + 4095))
  if size == 0 then
    return "T_ERROR", "invalid number", start, start
  end
  return "T_NUMBER", value, start + size, start
end

local function next_token(settings, text, at)
  local start = find(text, "[^ \t\n\r]", at) or #text + 1
  local first = sub(text, start, start)
  local kind = TOKENS[first]
  if kind then
    return kind, nil, start + (kind == "T_END" and 0 or 1), start
  elseif first == '"' then
    return string_token(text, start)
  elseif not find(first, "[fiIntN+%-%d]") then
    return "T_ERROR", "invalid token", start, start
  elseif find(first, "[%-%d]") then
    if not settings.decode_invalid_numbers and is_invalid_number(text, start) then
      return "T_ERROR", "invalid number", start, start
    end
    return number_token(text, start)
  end
  for _, word in next, WORDS do
    if sub(text, start, start + #word[1] - 1) == word[1] then
      return word[2], word[3], start + #word[1], start
    end
  end
  if settings.decode_invalid_numbers and is_invalid_number(text, start) then
    return number_token(text, start)
  end
  return "T_ERROR", "invalid token", start, start
end

local function expected(what, kind, value, start)
  fail(format("Expected %s but found %s at character %d", what, kind == "T_ERROR" and value or kind, start))
end

local function descend(settings, depth, at)
  if depth > settings.decode_max_depth then
    fail(format("Found too many nested data structures (%d) at character %d", depth, at - 1))
  end
end

local value_at

-- The value whose first token has been read.
local function value_of(settings, text, depth, kind, value, at, start)
  if kind == "T_STRING" or kind == "T_NUMBER" or kind == "T_BOOLEAN" then
    return value, at
  elseif kind == "T_OBJ_BEGIN" or kind == "T_ARR_BEGIN" then
    return value_at(settings, text, start, depth)
  elseif kind == "T_NULL" then
    return null, at
  end
  expected("value", kind, value, start)
end

-- After an item: true if another follows, false at the end, and the position after that token.
local function another(settings, text, at, final, what)
  local kind, value, after, start = next_token(settings, text, at)
  if kind == "T_COMMA" then
    return true, after
  elseif kind ~= final then
    expected(what, kind, value, start)
  end
  return false, after
end

-- The name of a member, in any form, and the position after its colon.
local function name_at(settings, text, at)
  local kind, value, start
  kind, value, at, start = next_token(settings, text, at)
  if kind ~= "T_STRING" then
    expected("object key string", kind, value, start)
  end
  local name = value
  kind, value, at, start = next_token(settings, text, at)
  if kind ~= "T_COLON" then
    expected("colon", kind, value, start)
  end
  return name, at
end

local function object_at(settings, text, at, depth)
  descend(settings, depth, at)
  local result = {}
  local _, stop = find(text, "^[ \t\n\r]*}", at)
  if stop then
    return result, stop + 1
  end
  local more = true
  while more do
    local name
    if byte(text, at) == 32 then
      at = find(text, "[^ ]", at) or at
    end
    stop = settings.plain and byte(text, at) == 34 and find(text, '"', at + 1, true)
    if stop and byte(text, stop + 1) == 58 then
      name = sub(text, at + 1, stop - 1)
      at = stop + 2
    else
      name, at = name_at(settings, text, at)
    end
    result[name], at = value_at(settings, text, at, depth)
    local mark = byte(text, at)
    if mark == 44 then
      at = at + 1
    elseif mark == 125 then
      return result, at + 1
    else
      more, at = another(settings, text, at, "T_OBJ_END", "comma or object end")
    end
  end
  return result, at
end

local function array_at(settings, text, at, depth)
  descend(settings, depth, at)
  local result, n = {}, 0
  local _, stop = find(text, "^[ \t\n\r]*%]", at)
  if stop then
    return result, stop + 1
  end
  local more = true
  while more do
    n = n + 1
    result[n], at = value_at(settings, text, at, depth)
    local mark = byte(text, at)
    if mark == 44 then
      at = at + 1
    elseif mark == 93 then
      return result, at + 1
    else
      more, at = another(settings, text, at, "T_ARR_END", "comma or array end")
    end
  end
  return result, at
end

-- The value at `at`, and the position after it.
function value_at(settings, text, at, depth)
  local first = byte(text, at)
  if first == 32 then
    at = find(text, "[^ ]", at) or at
    first = byte(text, at)
  end
  local _, stop, plain
  if first == 34 then
    stop = settings.plain and find(text, '"', at + 1, true)
    if stop then
      return sub(text, at + 1, stop - 1), stop + 1
    end
  elseif first == 123 then
    return object_at(settings, text, at + 1, depth + 1)
  elseif first == 91 then
    return array_at(settings, text, at + 1, depth + 1)
  elseif first and first >= 45 and first <= 57 and settings.decode_invalid_numbers then
    _, stop, plain = find(text, "^(-?%d+%.?%d*)[,}%]]", at)
    if stop then
      return tonumber(plain), stop
    end
  end
  local kind, value, start
  kind, value, at, start = next_token(settings, text, at)
  return value_of(settings, text, depth, kind, value, at, start)
end

local function decode_text(settings, text)
  if find(text, "^.?%z") and #text >= 2 then
    fail("JSON parser does not support UTF-16 or UTF-32")
  end
  -- Without escapes and zero bytes a string ends at the next quote.
  settings.plain = not find(text, "\\", 1, true) and not find(text, "\0", 1, true)
  local result, at = value_at(settings, text, 1, 0)
  local kind, value, _, start = next_token(settings, text, at)
  if kind ~= "T_END" then
    expected("the end", kind, value, start)
  end
  return result
end

-- Settings -------------------------------------------------------------------------------------------

local function check_arguments(count, most)
  if count > most then
    bad_argument(most + 1, "found too many arguments")
  end
end

local function set_integer(settings, name, number, count, value, least, most)
  if value ~= nil then
    value = check_integer(number, count, value)
    if value < least or value > most then
      bad_argument(1, format("expected integer between %d and %d", least, most))
    end
    settings[name] = value
  end
  return settings[name]
end

-- A setting that is one of a few words, or a boolean for "off" and "on".
local function check_word(number, count, value, words)
  if type(value) == "boolean" then
    return value and "on" or "off"
  end
  local word = check_string(number, count, value)
  for _, known in next, words do
    if word == known then
      return word
    end
  end
  bad_argument(number, format("invalid option '%s'", word))
end

local BOOLEAN_WORDS, INVALID_WORDS = { "off", "on" }, { "off", "on", "null" }

local function set_boolean(settings, name, number, count, value)
  if value ~= nil then
    settings[name] = check_word(number, count, value, BOOLEAN_WORDS) == "on"
  end
  return settings[name]
end

-- The library -----------------------------------------------------------------------------------------

local new

local pieces, joined = {}, kit.joined

function new()
  local settings = {
    sparse_convert = false, sparse_ratio = 2, sparse_safe = 10, encode_max_depth = 1000,
    decode_max_depth = 1000, encode_invalid_numbers = "off", decode_invalid_numbers = true,
    keep_buffer = true, precision = 14, number_format = "%.14g",
  }
  local library = { null = null, new = new, _NAME = "cjson", _VERSION = "2.1.0" }

  function library.encode(...)
    if select("#", ...) ~= 1 then
      bad_argument(1, "expected 1 argument")
    end
    local text
    text, pieces = joined(pieces, put(settings, pieces, 0, ..., 0))
    return text
  end

  function library.decode(...)
    if select("#", ...) ~= 1 then
      bad_argument(1, "expected 1 argument")
    end
    local text = ...
    return decode_text(settings, type(text) == "string" and text or check_string(1, 1, text))
  end

  function library.encode_sparse_array(...)
    local count = select("#", ...)
    local convert, ratio, safe = ...
    check_arguments(count, 3)
    return set_boolean(settings, "sparse_convert", 1, count, convert),
      set_integer(settings, "sparse_ratio", 2, count, ratio, 0, MAX_INT),
      set_integer(settings, "sparse_safe", 3, count, safe, 0, MAX_INT)
  end

  function library.encode_max_depth(...)
    check_arguments(select("#", ...), 1)
    local depth = set_integer(settings, "encode_max_depth", 1, 1, (...), 1, MAX_INT)
    return depth
  end

  function library.decode_max_depth(...)
    check_arguments(select("#", ...), 1)
    local depth = set_integer(settings, "decode_max_depth", 1, 1, (...), 1, MAX_INT)
    return depth
  end

  function library.encode_number_precision(...)
    check_arguments(select("#", ...), 1)
    local digits = set_integer(settings, "precision", 1, 1, (...), 1, 14)
    settings.number_format = "%." .. digits .. "g"
    return digits
  end

  function library.encode_keep_buffer(...)
    check_arguments(select("#", ...), 1)
    local keep = set_boolean(settings, "keep_buffer", 1, 1, (...))
    return keep
  end

  function library.encode_invalid_numbers(...)
    check_arguments(select("#", ...), 1)
    local value = ...
    if value ~= nil then
      settings.encode_invalid_numbers = check_word(1, 1, value, INVALID_WORDS)
    end
    local word = settings.encode_invalid_numbers
    if word == "null" then
      return word
    end
    return word == "on"
  end

  function library.decode_invalid_numbers(...)
    check_arguments(select("#", ...), 1)
    local on = set_boolean(settings, "decode_invalid_numbers", 1, 1, (...))
    return on
  end

  return library
end

return new()
