"""Keys of every type, and when they expire."""

LINES = """
SET key value
SET key value EX seconds
DEL key...
UNLINK key...
EXISTS key...
TOUCH key...
TYPE key
KEYS pattern
SCAN 0 COUNT 1000 {MATCH pattern|TYPE type|COUNT count}
RANDOMKEY
DBSIZE
RENAME key key
RENAMENX key key
MOVE key database
COPY key key {REPLACE|DB database}
OBJECT ENCODING key
OBJECT REFCOUNT key
OBJECT IDLETIME key
OBJECT FREQ key
EXPIRE key seconds {NX|XX|GT|LT}
PEXPIRE key milliseconds {NX|XX|GT|LT}
EXPIREAT key unix {NX|XX|GT|LT}
PEXPIREAT key unix_ms {NX|XX|GT|LT}
EXPIRE key seconds
EXPIREAT key unix
TTL key
PTTL key
EXPIRETIME key
PEXPIRETIME key
PERSIST key
SELECT database
SWAPDB database database
FLUSHDB [ASYNC|SYNC|BOTH]
SORT key {ALPHA|ASC|DESC|LIMIT index count|BY pattern_of_key|GET pattern_of_key|STORE key}
SORT_RO key {ALPHA|ASC|DESC|LIMIT index count|BY pattern_of_key|GET pattern_of_key}
LPUSH key number...
SADD key number...
ZADD key (score number)...
SET weight_key number
HSET hash_key number number
"""

WORDS = {
    "type": "string|list|set|zset|hash|stream|nonsense|STRING",
    "database": "0|1|0|1|15|16|-1",
    "number": "1|2|3|10|-5|1.5|x|y",
    "weight_key": "w1|w2|w3|wx|1|2",
    "hash_key": "h1|h2|hx",
    "pattern_of_key": 'w*|"h*->1"|nosort|#|*|"h*->"|"w*->"|a|c*|"h*->2"',
}
