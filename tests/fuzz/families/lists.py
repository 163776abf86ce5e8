"""Lists. Those that may block do so within a transaction, where they don't."""

LINES = """
LPUSH key item...
RPUSH key item...
RPUSH key item item item item item
LPUSHX key item...
RPUSHX key item...
LPOP key [count]
RPOP key [count]
LLEN key
LRANGE key index index
LINDEX key index
LSET key place item
LINSERT key (BEFORE|AFTER|before|NEAR) item item
LREM key index item
LTRIM key index index
LPOS key item {RANK index|COUNT count|MAXLEN count}
LMOVE key key side side
RPOPLPUSH key key
LMPOP numkeys key... side [COUNT count]
LMPOP 1 key side {COUNT count}
MULTI ; BLPOP key... timeout ; EXEC
MULTI ; BRPOP key... timeout ; EXEC
MULTI ; BLMOVE key key side side timeout ; EXEC
MULTI ; BRPOPLPUSH key key timeout ; EXEC
MULTI ; BLMPOP timeout 1 key side {COUNT count} ; EXEC
OBJECT ENCODING key
SORT key {ALPHA|ASC|DESC|LIMIT index count|STORE key}
"""

WORDS = {
    "item": r'x|y|z|1|-7|""|\x00\xff|10|a-longer-value-than-others|9223372036854775807|255|4096|70000|-2147483649|big|x|y',
    "place": "0|1|-1|2|-2|3|100|-100",
    "side": "LEFT|RIGHT|left|UP",
    "numkeys": "1|2|3|0|-1|4",
    "timeout": "0|1|0.5|-1|abc|inf|1e18",
}
