"""What came after 7.0 and before 8.0: times to live of hash fields, scores with ranks, blocking commands within scripts."""

LINES = """
HSET key (field value)...
HSET key (field value)...
HSETNX key field value
HINCRBY key field increment
HGET key field
HMGET key field...
HGETALL key
HKEYS key
HLEN key
HEXISTS key field
HDEL key field...
HEXPIRE key seconds [condition] fields
HPEXPIRE key milliseconds [condition] fields
HEXPIREAT key unix [condition] fields
HPEXPIREAT key unix_ms [condition] fields
HEXPIRE key seconds FIELDS 1 field
HTTL key fields
HPTTL key fields
HEXPIRETIME key fields
HPEXPIRETIME key fields
HPERSIST key fields
HSCAN key 0 {MATCH pattern|NOVALUES|COUNT 1000}
HRANDFIELD key
ZADD key (score field)...
ZRANK key field [WITHSCORE]
ZREVRANK key field [WITHSCORE]
SADD key (value)...
OBJECT ENCODING key
EVAL "return redis.call(unpack(ARGV))" 0 (BLPOP key 0|BRPOP key key 0|BLMOVE key key LEFT RIGHT 0|BZPOPMIN key 0)
EVAL "return redis.call(unpack(ARGV))" 0 (XREAD BLOCK 0 STREAMS key 0|ZRANK key field WITHSCORE|HTTL key FIELDS 1 field)
RPUSH key value...
COPY key key REPLACE
RENAME key key
"""

WORDS = {
    "field": r'f|g|h|1|2|""|\x00|a-longer-name-of-a-field|f|g|f|g',
    "condition": "NX|XX|GT|LT|nx|ZZ",
    "fields": "FIELDS 1 field|FIELDS 2 field field|FIELDS 3 field field field|FIELDS number field...|fields_first",
    "fields_first": "FIELDS 1 field NX|FIELDS|FIELDS 1",
    "number": "0|-1|1|2|5|x",
}
