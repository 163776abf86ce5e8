"""Transactions, watched keys and a second connection that interferes."""

LINES = """
MULTI
MULTI
EXEC
EXEC
DISCARD
WATCH key...
UNWATCH
@2 SET key value
@2 DEL key
@2 LPUSH key value
@2 EXPIRE key seconds
@2 MULTI
@2 EXEC
@2 INCR key
@2 FLUSHALL
@2 SWAPDB 0 1
@2 RENAME key key
WATCH key ; SET key value ; MULTI ; GET key ; EXEC
WATCH key ; @2 APPEND key value ; MULTI ; GET key ; EXEC
WATCH key ; MULTI ; INCR key ; NOSUCH thing ; EXEC
MULTI ; SET key value ; INCR key ; LPOP key ; EXEC
SET key value
GET key
INCR key
LPUSH key value
LRANGE key 0 -1
MGET key key
SELECT (0|1|99)
EXPIRE key seconds
DEL key
NOSUCH key
GET
HGETALL key
SADD key value
SMEMBERS key
ZADD key score value
ZRANGE key 0 -1 WITHSCORES
EVAL "return redis.call('GET',KEYS[1])" 1 key
RESET
"""

WORDS: dict[str, str] = {}
