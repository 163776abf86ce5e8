"""Keys whose time is up while the script runs."""

LINES = """
SET key value PX 1 ; @wait
PSETEX key 1 value ; @wait
PEXPIRE key 1 ; @wait
GETEX key PX 1 ; @wait
PEXPIRE key 1 NX ; @wait
SET key value PX 1 ; COPY key key ; @wait
SET key value PX 1 ; RENAME key key ; @wait
LPUSH key value ; PEXPIRE key 1 ; @wait ; LPUSH key value
MULTI ; PEXPIRE key 1 ; GET key ; EXEC ; @wait
WATCH key ; PEXPIRE key 1 ; @wait ; MULTI ; GET key ; EXEC
SET key value PX 1 ; @wait ; WATCH key ; MULTI ; INCR key ; EXEC
SET key value PX 1 ; WATCH key ; @wait ; @2 SET key value ; MULTI ; GET key ; EXEC
PEXPIRE key 1 ; BLPOP key 0 ; @wait ; @2 LPUSH key value
SET key value EX 100
SET key value KEEPTTL
SET key value XX KEEPTTL GET
EXPIRE key 100
PERSIST key
GET key
TTL key
PTTL key
TYPE key
EXISTS key key
KEYS *
SCAN 0 COUNT 1000
APPEND key value
INCR key
SETNX key value
SETRANGE key 2 value
LPUSH key value
RPUSHX key value
SADD key value
HSET key value value
HINCRBY key value 1
ZADD key 1 value
XADD key * value value
PFADD key value
SINTERSTORE key key key
ZUNIONSTORE key 2 key key
SORT key ALPHA STORE key
BITOP OR key key key
RENAMENX key key
MOVE key 1
COPY key key REPLACE
DEL key
OBJECT ENCODING key
EVAL "redis.call('PEXPIRE',KEYS[1],1) return redis.call('TYPE',KEYS[1])" 1 key ; @wait
"""

WORDS = {"key": "a|b|a|b|c", "value": "x|1|10|hello"}
