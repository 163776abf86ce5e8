"""Strings, and numbers within them."""

LINES = """
GET key
SET key value
SET key value {NX|XX|GET|KEEPTTL|EX seconds|PX milliseconds|EXAT unix|PXAT unix_ms}
SETNX key value
SETEX key seconds value
PSETEX key milliseconds value
GETSET key value
GETDEL key
GETEX key {EX seconds|PX milliseconds|EXAT unix|PXAT unix_ms|PERSIST}
MGET key...
MSET (key value)...
MSETNX (key value)...
STRLEN key
APPEND key value
GETRANGE key index index
SUBSTR key index index
SETRANGE key offset value
INCR key
DECR key
INCRBY key increment
DECRBY key increment
SET key number
INCRBYFLOAT key float
SET key float
LCS key key {LEN|IDX|WITHMATCHLEN|MINMATCHLEN index}
TTL key
PTTL key
OBJECT ENCODING key
"""

WORDS = {
    "offset": "0|1|5|50|1000|-1|1048576|4294967296|9223372036854775807",
    "number": r'10|0|-5|9223372036854775807|-9223372036854775808|9223372036854775808|3.0|1e5|" 1"|"1 "|007|+5|-0|0|3.14159',
}
