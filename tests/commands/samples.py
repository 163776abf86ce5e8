"""One or more calls of every command that reads or writes keys, on a small state that has a key of each type."""

from __future__ import annotations

STATE = """
SET s 10
SET bits abcdefgh
RPUSH l a b c
RPUSH numbers 3 1 2
HSET h f 1 g 2
SADD set a b c
SADD other b c d
ZADD z 1 a 2 b 3 c
ZADD z2 1 a 5 x
GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania
PFADD hll a b c
PFADD hll2 d
XADD x 1-1 f v
XADD x 2-1 f v
XADD x 3-1 f v
XGROUP CREATE x g 0
XREADGROUP GROUP g consumer COUNT 1 STREAMS x >
SET volatile v EX 100000
"""

WRITES = """
SETBIT bits 7 1
SETBIT new 7 1
SETBIT bits 1 1
BITOP AND new bits bits
BITOP AND bits none none2
BITFIELD bits SET u8 0 255
BITFIELD bits GET u8 0
BITFIELD bits INCRBY u8 0 1
FLUSHDB
FLUSHALL
EXPIRE s 1000
EXPIRE none 1000
EXPIRE s -1
EXPIRE s 1000 XX
PEXPIRE s 1000000
EXPIREAT s 33177117420
PEXPIREAT s 33177117420000
PERSIST volatile
PERSIST s
DEL s l none
UNLINK s l none
RENAME s new
RENAME s s
RENAMENX s new
RENAMENX s l
MOVE s 1
COPY s new
COPY s l
COPY s l REPLACE
GEOADD geo 13 38 Place
GEOADD geo NX 13 38 Palermo
GEOSEARCHSTORE new geo FROMMEMBER Palermo BYRADIUS 500 km
GEOSEARCHSTORE z geo FROMLONLAT 0 0 BYRADIUS 1 km
GEORADIUS geo 15 37 200 km STORE new
GEORADIUS geo 15 37 200 km
GEORADIUSBYMEMBER geo Palermo 200 km STORE new
HSET h f 2 k 3
HSET h f 1
HMSET h f 2
HSETNX h f 5
HSETNX h k 5
HINCRBY h f 1
HINCRBYFLOAT h f 1.5
HDEL h f nothing
HDEL h f g
HDEL h nothing
PFADD hll x y z
PFADD hll a
PFADD new a
PFMERGE hll hll2
PFMERGE new hll
BLPOP l 1
BRPOP l 1
BLMPOP 1 1 l LEFT
BLMOVE l numbers LEFT RIGHT 1
BRPOPLPUSH l numbers 1
LPUSH l x
LPUSH new x
RPUSH l x
LPUSHX l x
LPUSHX none x
RPUSHX l x
LPOP l
LPOP none
LPOP l 0
RPOP l 3
LMPOP 2 none l LEFT
LMOVE l l LEFT RIGHT
LMOVE l new LEFT RIGHT
RPOPLPUSH l new
LSET l 0 x
LINSERT l BEFORE b x
LINSERT l BEFORE nothing x
LREM l 0 b
LREM l 0 nothing
LTRIM l 0 1
LTRIM l 5 9
SINTERSTORE new set other
SINTERSTORE l set none
SUNIONSTORE new set other
SDIFFSTORE set other set
SADD set a
SADD set x
SREM set a b c
SREM set nothing
SMOVE set other a
SMOVE set other nothing
SPOP set
SPOP set 9
SPOP none
ZUNIONSTORE new 2 z z2
ZINTERSTORE new 2 z z2
ZINTERSTORE l 2 z none
ZDIFFSTORE new 2 z z2
ZPOPMIN z
ZPOPMIN z 0
ZPOPMAX z 9
ZMPOP 1 z MIN
BZPOPMIN z 1
BZPOPMAX z 1
BZMPOP 1 1 z MIN
ZRANGESTORE new z 0 -1
ZRANGESTORE l z 5 9
ZREMRANGEBYRANK z 0 0
ZREMRANGEBYRANK z 7 9
ZREMRANGEBYSCORE z 1 2
ZREMRANGEBYSCORE z 8 9
ZREMRANGEBYLEX z - +
ZADD z 1 a
ZADD z 7 a
ZADD z NX 9 a
ZADD z XX 9 nothing
ZADD z GT 1 a
ZADD z INCR 1 a
ZINCRBY z 1 a
ZINCRBY new 1 a
ZREM z a b c
ZREM z nothing
SORT numbers STORE new
SORT none STORE l
SORT numbers
XGROUP CREATE x g2 $
XGROUP CREATE new g $ MKSTREAM
XGROUP SETID x g 0
XGROUP DESTROY x g
XGROUP CREATECONSUMER x g someone
XGROUP DELCONSUMER x g consumer
XACK x g 1-1
XACK x g 9-9
XCLAIM x g someone 0 1-1
XAUTOCLAIM x g someone 0 0
XREADGROUP GROUP g consumer STREAMS x >
XADD x 9-1 f v
XADD new 9-1 f v
XADD none NOMKSTREAM 9-1 f v
XTRIM x MAXLEN 1
XTRIM x MAXLEN 9
XDEL x 1-1
XDEL x 9-9
XSETID x 9-9
SET s v
SET s 10 KEEPTTL
SET s v NX
SET volatile v XX
SETNX s v
SETNX new v
SETEX s 1000 v
PSETEX s 100000 v
GETSET s v
GETDEL s
GETDEL none
GETEX s
GETEX volatile PERSIST
GETEX s EX 1000
MSET s v new v
MSETNX s v new v
MSETNX new v new2 v
INCR s
DECR s
INCRBY s 5
DECRBY s 5
INCRBYFLOAT s 1.5
APPEND s x
APPEND s ""
APPEND new x
SETRANGE s 1 x
SETRANGE s 1 ""
SETRANGE new 1 x
"""

#: Writes since 7.4 and 8.0.
NEW_WRITES = """
HEXPIRE h 1000 FIELDS 1 f
HEXPIRE h 1000 FIELDS 1 nothing
HEXPIRE h 0 FIELDS 1 f
HPEXPIRE h 100000 FIELDS 2 f g
HPEXPIRE h 0 FIELDS 2 f g
HEXPIREAT h 33177117420 FIELDS 1 f
HPEXPIREAT h 33177117420000 FIELDS 1 f
HPERSIST h FIELDS 1 f
"""

#: Written by commands whose samples would need a payload, or that exchange databases; tested on their own.
NOT_SAMPLED_WRITES = {
    "restore", "restore-asking", "migrate", "swapdb", "pfdebug", "hgetdel", "hgetex", "hsetex",
    "function|load", "function|delete", "function|flush", "function|restore",
}  # fmt: skip

READS = """
GETBIT bits 1
BITCOUNT bits
BITPOS bits 1
BITFIELD_RO bits GET u8 0
DBSIZE
MEMORY USAGE s
DUMP s
TTL s
PTTL volatile
EXPIRETIME volatile
PEXPIRETIME volatile
EXISTS s none
TOUCH s none
TYPE z
KEYS *
SCAN 0
RANDOMKEY
OBJECT ENCODING s
OBJECT IDLETIME s
OBJECT REFCOUNT s
GEOPOS geo Palermo
GEOHASH geo Palermo
GEODIST geo Palermo Catania
GEOSEARCH geo FROMMEMBER Palermo BYRADIUS 500 km
GEORADIUS_RO geo 15 37 200 km
GEORADIUSBYMEMBER_RO geo Palermo 200 km
HGET h f
HMGET h f g
HGETALL h
HKEYS h
HVALS h
HLEN h
HSTRLEN h f
HEXISTS h f
HRANDFIELD h 2
HSCAN h 0
PFCOUNT hll hll2
LLEN l
LRANGE l 0 -1
LINDEX l 0
LPOS l b
EVAL_RO "return redis.call('GET', KEYS[1])" 1 s
LOLWUT
SINTER set other
SINTERCARD 2 set other
SUNION set other
SDIFF set other
SCARD set
SISMEMBER set a
SMEMBERS set
SMISMEMBER set a x
SRANDMEMBER set 2
SSCAN set 0
ZUNION 2 z z2
ZINTER 2 z z2
ZDIFF 2 z z2
ZINTERCARD 2 z z2
ZRANGE z 0 -1
ZREVRANGE z 0 -1
ZRANGEBYSCORE z 0 9
ZREVRANGEBYSCORE z 9 0
ZRANGEBYLEX z - +
ZREVRANGEBYLEX z + -
ZCOUNT z 0 9
ZLEXCOUNT z - +
ZCARD z
ZSCORE z a
ZMSCORE z a x
ZRANK z a
ZREVRANK z a
ZRANDMEMBER z 2
ZSCAN z 0
SORT_RO numbers
XPENDING x g
XINFO STREAM x
XINFO GROUPS x
XINFO CONSUMERS x g
XREAD STREAMS x 0
XLEN x
XRANGE x - +
XREVRANGE x + -
GET s
MGET s none l
STRLEN s
GETRANGE s 0 1
SUBSTR s 0 1
LCS s bits
"""

NEW_READS = """
HTTL h FIELDS 1 f
HPTTL h FIELDS 1 f
HEXPIRETIME h FIELDS 1 f
HPEXPIRETIME h FIELDS 1 f
"""

#: `object|freq` is an error unless an LFU policy is set; a digest must be known for EVALSHA_RO.
NOT_SAMPLED_READS = {"object|freq", "evalsha_ro", "fcall_ro"}

KEYS = (
    "s", "bits", "l", "numbers", "h", "set", "other", "z", "z2", "geo", "hll", "hll2", "x", "volatile", "new", "new2",
    "none", "none2",
)  # fmt: skip


def lines(text: str) -> list[str]:
    """The calls, one a line."""
    return [line for line in text.splitlines() if line]
