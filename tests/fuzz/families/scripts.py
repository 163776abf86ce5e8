"""Lua scripts: what Redis' values become in Lua, Lua's in Redis, and the libraries between."""

LINES = """
EVAL <return expr> 0
EVAL <return many> 0
EVAL <return many> 0
EVAL <protocol "local r = redis.call(unpack(ARGV)) return" view> 0 command
EVAL <protocol "local r = redis.pcall(unpack(ARGV)) return" view> 0 command
EVAL "return {KEYS, ARGV, #KEYS, #ARGV}" (0|1|2|3|-1|x) value...
EVAL <"local n =" number return of_number> 0
EVAL <"local n =" number return of_number> 0
EVAL <"local n, m =" number "," number return of_numbers> 0
EVAL <return pure> 0
EVAL <return pure> 0
EVAL <"local s = ARGV[1] return" of_text> 0 text
EVAL <"local s = ARGV[1] return" of_text> 0 text
EVAL <"local ok, r = pcall(function() return" (pure|expr) "end) return {tostring(ok), r}"> 0
EVAL "return redis.call(unpack(ARGV))" 0 command
EVAL "return redis.pcall(unpack(ARGV))" 0 command
EVAL_RO "return redis.call(unpack(ARGV))" 0 command
EVAL <redis_call then_more> 1 key value
EVALSHA (nonsense|ffffffffffffffffffffffffffffffffffffffff|e0e1f9fabfc9d4800c877a703b823ac0578ff8db) 0
SCRIPT EXISTS (nonsense|e0e1f9fabfc9d4800c877a703b823ac0578ff8db)...
SCRIPT LOAD (broken|"return 1"|"return redis.call('get', 'a')")
EVAL broken 0
command
"""

_PURE = r"""
cjson.encode({})
cjson.encode({1,2,nil,4})
cjson.encode({[5]=1})
cjson.encode({[1]=1,[1000]=2})
cjson.encode({a={}})
cjson.encode('\0\1\127/\\"')
cjson.encode(nil)
cjson.encode(function() end)
cjson.encode({[true]=1})
cjson.encode({[1.5]=1})
cjson.encode()
cjson.encode(1,2)
cjson.encode('\255')
cjson.encode_max_depth()
cjson.encode_sparse_array()
cjson.encode_number_precision()
cjson.encode_keep_buffer()
cjson.encode_invalid_numbers()
cjson.decode_max_depth()
cjson.decode_invalid_numbers()
cjson.encode_invalid_numbers('x')
cjson.decode('[')
cjson.decode('{"a":1}').a
cjson.decode('null') == cjson.null
cjson.encode(cjson.decode('[]'))
cjson.encode(cjson.decode('{}'))
cjson.encode(cjson.decode('[1,2.5,1e3,-0]'))
cjson.new
cjson._VERSION
cjson._NAME
cmsgpack._VERSION
cmsgpack._NAME
cmsgpack.pack()
cmsgpack.pack(nil, true, false)
cmsgpack.pack({})
cmsgpack.pack({a=1})
cmsgpack.pack({1,2,3})
cmsgpack.pack({[2]=1})
cmsgpack.pack(function() end)
cmsgpack.pack({{{{{{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}}}}}})
cmsgpack.unpack('')
cmsgpack.unpack('\147\1')
{cmsgpack.unpack('\1\2')}
{cmsgpack.unpack_one('\1\2')}
{cmsgpack.unpack_one('\1\2', 1)}
{cmsgpack.unpack_limit('\1\2\3', 2)}
{cmsgpack.unpack_limit('\1\2\3', 2, 1)}
cmsgpack.unpack_one('\1', 5)
cmsgpack.unpack_one('\1', -1)
cmsgpack.unpack(5)
cmsgpack.unpack()
struct.size('i4i8')
struct.size('!4bi4')
struct.size('s')
struct.pack('z', 'x')
struct.pack('s', 'x')
struct.pack('c0', 'xyz')
struct.pack('c5', 'xyz')
struct.pack('Bc0', 3, 'xyz')
struct.pack('x>h!4bi', 1, 2, 3)
struct.pack('q', 1)
struct.pack('i99', 1)
struct.pack('i', 'x')
struct.pack()
struct.pack('i')
{struct.unpack('s', 'ab\0cd')}
{struct.unpack('Bc0', '\2abc')}
{struct.unpack('>I2', 'abc', 2)}
struct.unpack('>I4', 'ab')
struct.unpack('i', '')
{struct.unpack('bbx', 'abc')}
struct.unpack('b', 'abc', 0)
struct.unpack('b', 'abc', 99)
bit.band()
bit.band(1,2,3)
bit.bxor(1)
bit.lshift(1)
bit.tohex(255, 0)
bit.band('3', 1)
bit.band('x')
redis.sha1hex()
redis.sha1hex(1)
redis.sha1hex('a','b')
redis.call()
redis.pcall()
redis.call({})
redis.call('get')
redis.call('nosuch')
redis.pcall('nosuch')
redis.call('set', 'a', nil)
redis.call('ping', true)
redis.call(1)
redis.call('subscribe', 'x')
redis.call('multi')
redis.call('eval', 'return 1', 0)
redis.log()
redis.log(1)
redis.log('x', 'y')
redis.log(99, 'x')
redis.error_reply()
redis.error_reply(1)
redis.error_reply('a', 'b')
redis.status_reply()
redis.status_reply(1)
redis.setresp()
redis.setresp(5)
redis.setresp('x')
redis.set_repl(redis.REPL_ALL)
redis.set_repl(99)
redis.set_repl()
redis.replicate_commands()
redis.acl_check_cmd('get', 'a')
redis.acl_check_cmd('nosuch')
redis.acl_check_cmd()
redis.LOG_WARNING
redis.REPL_SLAVE
redis.nosuch
nosuch
nosuch.field
nosuch()
('x'):rep(3)
('x').y
#5
1 + {}
1 + 'x'
1 + '2'
{} .. 'x'
'a' < 1
{} < {}
nil[1]
unpack({1,2,3})
select('#', 1, nil)
next({})
type(nil)
type()
tonumber('0x10')
tonumber('1e2')
tonumber('z', 36)
tonumber('')
tostring(nil)
tostring()
loadstring('return 7')()
loadstring('x x')
{loadstring('x x')}
table.concat({1,2,3}, ',')
table.concat({{}})
table.getn({1,2})
table.sort({3,1,2})
string.rep('ab', 3)
string.byte('A')
string.char(256)
('abc'):sub(-2)
string.gsub('hello', 'l', 'L')
string.find('a.b', '.', 1, true)
string.find('a', '[')
string.format('%q', 'a\nb\0')
string.format('%d', 'x')
string.format('%y', 1)
string.format('%s')
string.dump
math.huge
-math.huge
math.pi
math.floor(2.5)
math.random
os.clock() >= 0
os.time
os.execute
io
require
dofile
print
debug
load
loadfile
module
package
rawget({}, 1)
setmetatable({}, {__index=function() return 5 end}).x
getmetatable('').__index == string
_G.nosuch
_G.redis == redis
coroutine.wrap(function() return 1 end)()
collectgarbage('count') > 0
pcall(error, 'x')
xpcall(function() error('x') end, function(m) return 'handled' end)
assert(false)
assert(false, 'why')
assert(nil, {err='ERR t'})
unpack({}, 1, 3)
1e308*10
2^53
"""

_OF_NUMBER = r"""
n
tostring(n)
n .. ''
{n}
cjson.encode(n)
cjson.encode({n,n})
string.format('%d', n)
string.format('%.14g', n)
string.format('%s', n)
string.format('%5.1f|%x|%c', n, n, 65)
cmsgpack.pack(n)
cmsgpack.pack({n})
struct.pack('>I4', n)
struct.pack('<i2', n)
struct.pack('b', n)
struct.pack('d', n)
struct.pack('f', n)
struct.pack('>i8', n)
struct.unpack('>I4', struct.pack('>I4', n))
struct.unpack('<i8', struct.pack('<i8', n))
bit.tobit(n)
bit.bnot(n)
bit.tohex(n)
bit.tohex(n, 4)
bit.tohex(n, -8)
bit.bswap(n)
math.floor(n)
n % 3
tostring(n):len()
tonumber(tostring(n))
redis.call('SET', 'a', n) and redis.call('GET', 'a')
redis.call('ECHO', n)
redis.call('INCRBY', 'b', n)
select(2, cmsgpack.unpack_one(cmsgpack.pack(n, n)))
{cmsgpack.unpack(cmsgpack.pack(n, n, {n}))}
cjson.decode('[' .. cjson.encode(n == n and n ~= 1/0 and n ~= -1/0 and n or 0) .. ']')
"""

_OF_NUMBERS = r"""
bit.band(n,m)
bit.bor(n,m)
bit.bxor(n,m)
bit.lshift(n,m)
bit.rshift(n,m)
bit.arshift(n,m)
bit.rol(n,m)
bit.ror(n,m)
{n+m, n*m}
{tostring(n/m), tostring(n%m), tostring(n^2)}
cjson.encode({n, {a=m}})
tostring(n < m)
math.max(n,m)
struct.pack('>i2i4', n, m)
{struct.unpack('>i4i4', struct.pack('>i4i4', n, m))}
"""

_OF_TEXT = r"""
cjson.decode(s)
cjson.encode(cjson.decode(s))
{type(cjson.decode(s)), cjson.encode(cjson.decode(s))}
cjson.encode(s)
cmsgpack.unpack(s)
{cmsgpack.unpack(s)}
cmsgpack.pack(cmsgpack.unpack(s))
cmsgpack.pack(s)
{cmsgpack.unpack_one(s)}
{struct.unpack('>I2', s)}
{struct.unpack('s', s)}
redis.sha1hex(s)
tonumber(s)
s .. 1
#s
string.format('%q', s)
"""

_TEXTS = [
    "[]", "{}", "[1,2,3]", '{"a":[1,{"b":null}]}', '"x"', "1", " 1 ", "1.0", "1e5", "-", "nul", "null", "true", "[1,]",
    '{"a"}', r'"\u0041\u00e9\ud83d\ude00"', r'"\ud83d"', r'"\x"', "[01]", "[0x10]", "[nan]", "[Infinity]", "[-Infinity]",
    "{1:2}", '["a\tb"]', "", "[1 2]", '{"a":{"b":[[]]}}', "\xff", "[1e400]", "12345678901234567890", r'["\n\t\/\\\""]', "[-1]",
    "\x93\x01\x02\x03", "\x81\xa1a\x01", "\xcb\x40\x0c\0\0\0\0\0\0", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "\xca\x40\0\0\0",
    "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", "\xc1", "\xda\x00", "\xc0", "\xc3\xc2", "\xde\x00\x01\x01\x02", "\xc4\x01x",
    "\xd9\x01x", "\xdc\x00\x01\x05", "\xdd\x00\x00\x00\x01\x05", "\x80", "\x90", "\xe0", "\xd0\x80", "\xcd\x01\x00", "\xa3abc",
]  # fmt: skip

_BROKEN = [
    "return", "x x", "return return", "local", "return 'unfinished", "@", "", "return 1; end", "for", "goto x", "x = 1",
    "function f() end", "local function f() end return f", "#!lua\nreturn 1", "#!lua name=x\nreturn 1", "#!nosuch\nreturn 1",
    "#!lua flags=no-writes\nreturn redis.call('set','a',1)", "#!lua flags=nosuch\nreturn 1", "#!lua flags=\nreturn 1",
    "#!lua flags=allow-oom,no-writes\nreturn 2", "#!lua", "--comment", "redis = 1", "redis.x = 1", "string.x = 1", "_G.x = 1",
    "KEYS = 5 return KEYS", "ARGV[1] = 5 return ARGV", "_G = 5", "rawset(_G, 'x', 1)", "setmetatable(_G, {})",
    "cjson.encode = 1", "return 1 + nil", "local t = nil; return t.x",
    "return table.concat({nil,1})", "error('x', 0)", "error('x', 2)", "return redis.call('set', 'a')",
    "redis.call('incr', 'a'); redis.call('lpush', 'a', 1)", "return\n\nnosuch", "\n\nerror('x')",
]  # fmt: skip

_EXPRESSIONS = r"""
nil
true
false
'x'
''
'a\r\nb'
{}
{ok='fine'}
{err='ERR bad'}
{err='bad'}
{err=''}
{err='-X y'}
{double=3.5}
{map={a=1}}
{set={x=true}}
{big_number='123'}
{verbatim_string={string='x',format='txt'}}
redis.error_reply('MINE wrong')
redis.error_reply('-MINE wrong')
redis.error_reply('wrong')
redis.status_reply('GOOD')
function() end
{1,2,nil,4}
{[1]=1,[3]=3}
{a=1}
{{1,{2,{3}}},'x'}
redis.sha1hex('x')
redis.call
cjson.null
type(redis.call)
error('oops')
error({err='ERR own'})
error({err='own'})
error()
error(nil)
error(5)
"""

_VIEWS = r"""
r
type(r)
{type(r), type(r) ~= 'table' and tostring(r)}
cjson.encode(r)
{r, #r}
r.err
r.ok
{r.err, r.ok, r.double}
cmsgpack.unpack(cmsgpack.pack(r))
r.map
r[1]
{type(r) == 'table' and type(r[1]), r == false, r == nil}
r.map and cjson.encode(r.map)
r.set and cjson.encode(r.set)
type(r) == 'table' and cjson.encode(r)
"""


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


WORDS = {
    "protocol": ["", "", "redis.setresp(3);", "redis.setresp(2);", "redis.setresp(4);"],
    "number": "1|0|-1|3.7|-3.7|1e15|1e17|1e100|0.1|1/3|1/0|-1/0|0/0|2^31|2^53|-2^63|2^63|2^64|123456789.5|255|65536|1e-5",
    "plain": _lines(_EXPRESSIONS),
    "expr": "number|plain|plain",
    "many": '"{" expr "," expr "," number "}"|"{" expr "}"|"{ok=" expr "}"|"{err=" expr "}"|"{double=" number "}"|expr "," expr'
    '|"{map={" expr "}}"|"{set={" expr "}}"|"{big_number=" expr "}"',
    "view": _lines(_VIEWS),
    "of_number": _lines(_OF_NUMBER),
    "of_numbers": _lines(_OF_NUMBERS),
    "pure": _lines(_PURE),
    "text": _TEXTS,
    "of_text": _lines(_OF_TEXT),
    "broken": _BROKEN,
    "redis_call": [
        "redis.call('SET', KEYS[1], ARGV[1])",
        "redis.pcall('INCR', KEYS[1])",
        "redis.call('LPUSH', KEYS[1], 1)",
    ],
    "then_more": [
        "error('x')",
        "return redis.call('TYPE', KEYS[1])",
        "return redis.call('GET', KEYS[1])",
        "return nosuch",
    ],
    "command": "GET key|SET key value|SET key value GET|MGET key key|INCR key|INCRBYFLOAT key float|LPUSH key value..."
    "|LRANGE key 0 -1|LPOP key|LPOP key 2|LPOS key value COUNT 0|HSET key value value|HGETALL key|HGET key value"
    "|HMGET key value value|HKEYS key|SADD key small...|SMEMBERS key|SISMEMBER key value|SMISMEMBER key value value"
    "|ZADD key score value|ZADD key INCR score value|ZSCORE key value|ZRANGE key 0 -1 WITHSCORES|ZRANGE key 0 -1"
    "|ZMSCORE key value|ZPOPMIN key|ZPOPMAX key 2|XADD key 5-5 value value|XRANGE key - +|XREAD STREAMS key 0"
    "|XLEN key|GEOADD key 1 2 value|GEOPOS key value|GEODIST key value value|TYPE key|EXISTS key|DEL key|PING"
    "|PING value|ECHO value|CONFIG GET maxmemory|OBJECT ENCODING key|NOSUCH value|GET|EXPIRE key seconds|SELECT 1"
    "|MULTI|EXEC|WATCH key|SUBSCRIBE value|PFCOUNT key|STRLEN key|GETRANGE key 0 -1|SETBIT key 7 1"
    "|EVAL value 0|ZINTER 2 key key WITHSCORES|ZDIFF 1 key|ZMPOP 1 key MIN|LMPOP 1 key LEFT|HINCRBYFLOAT key value float"
    "|LCS key key IDX|ACL WHOAMI|DBSIZE",
    "small": "1|2|3|5",
}
