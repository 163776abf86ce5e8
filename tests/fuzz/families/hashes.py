"""Hashes."""

LINES = """
HSET key (field value)...
HSET key (field value)...
HMSET key (field value)...
HSETNX key field value
HGET key field
HMGET key field...
HGETALL key
HKEYS key
HVALS key
HLEN key
HSTRLEN key field
HEXISTS key field
HDEL key field...
HINCRBY key field increment
HINCRBYFLOAT key field float
HSET key field number
HRANDFIELD key
HRANDFIELD key pick
HRANDFIELD key pick WITHVALUES
HSCAN key 0 {MATCH pattern|COUNT count}
HSCAN key 0 COUNT 1000
OBJECT ENCODING key
"""

WORDS = {
    "field": r'f|g|h|1|2|""|\x00|a-longer-name-of-a-field|f|g|abc|ab',
    "number": r'10|0|-5|9223372036854775807|-9223372036854775808|9223372036854775808|3.0|1e5|" 1"|007|3.14159',
    "pick": "1|2|0|-1|-3|100|-100",
}
