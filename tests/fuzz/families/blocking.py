"""Two connections that wait for keys, and what wakes them."""

LINES = """
BLPOP key... forever
@2 BLPOP key... forever
BRPOP key... forever
@2 BRPOP key... forever
BLMOVE key key side side forever
@2 BLMOVE key key side side forever
BRPOPLPUSH key key forever
@2 BRPOPLPUSH key key forever
BLMPOP forever (1 key|2 key key) side [COUNT count]
@2 BLMPOP forever (1 key|2 key key) side [COUNT count]
BZPOPMIN key... forever
@2 BZPOPMAX key... forever
BZMPOP forever (1 key|2 key key) (MIN|MAX) [COUNT count]
@2 BZMPOP forever (1 key|2 key key) (MIN|MAX) [COUNT count]
XREAD BLOCK 0 STREAMS key ($|0|5-0|+)
@2 XREAD COUNT 1 BLOCK 100000 STREAMS key key ($|0|5-0) ($|0|1-1)
XGROUP CREATE key g 0 MKSTREAM ; XREADGROUP GROUP g alice BLOCK 0 STREAMS key new
XGROUP CREATE key g $ MKSTREAM ; @2 XREADGROUP GROUP g bob COUNT 1 BLOCK 0 STREAMS key new
BLPOP key soon ; @wait
@2 BLMPOP soon 1 key LEFT ; @wait
BZPOPMIN key soon ; @wait
XREAD BLOCK (1|2) STREAMS key $ ; @wait
LPUSH key value...
@2 RPUSH key value...
@2 LPUSH key value ; LPUSH key value
@2 ZADD key (score value)...
ZADD key score value
@2 XADD key (1-1|5-0|9-9|5-1) value value
XADD key * value value
@2 SET key value
@2 DEL key
DEL key
@2 RENAME key key
@2 COPY key key [REPLACE]
@2 LMOVE key key side side
@2 RPOPLPUSH key key
@2 SORT key ALPHA STORE key
@2 ZUNIONSTORE key 1 key
@2 ZRANGESTORE key key 0 -1
@2 SUNIONSTORE key key
@2 GEOADD key 1 1 x
@2 XGROUP DESTROY key g
@2 XDEL key (1-1|5-0)
@2 MULTI ; @2 LPUSH key value... ; @2 LPOP key ; @2 RPUSH key value ; @2 EXEC
@2 MULTI ; @2 DEL key ; @2 ZADD key 1 x 2 y ; @2 LPUSH key value ; @2 EXEC
@2 MULTI ; @2 RPUSH key value ; @2 DEL key ; @2 SET key value ; @2 EXEC
@2 EVAL "redis.call('LPUSH',KEYS[1],'x','y') redis.call('RPUSH',KEYS[2],'z') return redis.call('LPOP',KEYS[1])" 2 key key
EVAL "redis.call('DEL',KEYS[1]) return redis.call('ZADD',KEYS[1],1,'x')" 1 key
@2 FLUSHALL
@2 SWAPDB 0 1
@2 MOVE key 1
@2 EXPIRE key 0
WATCH key ; MULTI ; LLEN key ; EXEC
LRANGE key 0 -1
@2 ZRANGE key 0 -1
"""

WORDS = {
    "key": "a|b|a|b|c",
    "forever": "0|0|100|1000.5",
    "soon": "0.001|0.002|0.003",
    "side": "LEFT|RIGHT",
    "new": '">"',
    "value": "x|y|1|a-longer-value-than-others",
}
