"""Sets, of whole numbers and of others."""

LINES = """
SADD key member...
SADD key number...
SREM key member...
SREM key number...
SMOVE key key member
SMOVE key key number
SCARD key
SISMEMBER key member
SMISMEMBER key member...
SMEMBERS key
SPOP key
SPOP key count
SRANDMEMBER key
SRANDMEMBER key pick
SSCAN key 0 {MATCH pattern|COUNT count}
SSCAN key 0 COUNT 1000
SINTER key...
SUNION key...
SDIFF key...
SINTERSTORE key key...
SUNIONSTORE key key...
SDIFFSTORE key key...
SINTERCARD numkeys key... {LIMIT count}
SINTERCARD 2 key key [LIMIT count]
SORT key {ALPHA|ASC|DESC|LIMIT index count|STORE key}
OBJECT ENCODING key
"""

WORDS = {
    "member": r'x|y|z|1|2|-7|""|\x00\xff|a-longer-value-than-others|01|9223372036854775808|abc|ab|3',
    "number": "1|2|3|4|-1|32767|32768|-32769|2147483648|9223372036854775807|-9223372036854775808",
    "pick": "1|2|0|-1|-3|100|-100",
    "numkeys": "1|2|3|0|-1|4",
}
