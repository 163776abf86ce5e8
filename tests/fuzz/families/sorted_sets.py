"""Sorted sets."""

LINES = """
ZADD key (score member)...
ZADD key (0 member)...
ZADD key {NX|XX|GT|LT|CH|INCR} (score member)...
ZADD key {NX|XX|GT|LT|CH|INCR} score member
ZINCRBY key score member
ZREM key member...
ZCARD key
ZSCORE key member
ZMSCORE key member...
ZRANK key member
ZREVRANK key member
ZCOUNT key bound bound
ZLEXCOUNT key lex lex
ZRANGE key index index {REV|WITHSCORES|LIMIT skip count}
ZRANGE key bound bound BYSCORE {REV|WITHSCORES|LIMIT skip count}
ZRANGE key lex lex BYLEX {REV|WITHSCORES|LIMIT skip count}
ZRANGE key (index|bound|lex) (index|bound|lex) {BYSCORE|BYLEX|REV|WITHSCORES|LIMIT skip count}
ZRANGESTORE key key (index|bound|lex) (index|bound|lex) {BYSCORE|BYLEX|REV|LIMIT skip count}
ZREVRANGE key index index [WITHSCORES]
ZRANGEBYSCORE key bound bound {WITHSCORES|LIMIT skip count}
ZREVRANGEBYSCORE key bound bound {WITHSCORES|LIMIT skip count}
ZRANGEBYLEX key lex lex {LIMIT skip count}
ZREVRANGEBYLEX key lex lex {LIMIT skip count}
ZREMRANGEBYRANK key index index
ZREMRANGEBYSCORE key bound bound
ZREMRANGEBYLEX key lex lex
ZPOPMIN key [count]
ZPOPMAX key [count]
ZMPOP numkeys key... (MIN|MAX|min|MID) {COUNT count}
ZMPOP 1 key (MIN|MAX) {COUNT count}
ZUNION numkeys key... {WEIGHTS score...|AGGREGATE aggregate|WITHSCORES}
ZINTER numkeys key... {WEIGHTS score...|AGGREGATE aggregate|WITHSCORES}
ZDIFF numkeys key... {WITHSCORES}
ZUNION 2 key key {WEIGHTS score score|AGGREGATE aggregate|WITHSCORES}
ZINTER 2 key key {WEIGHTS score score|AGGREGATE aggregate|WITHSCORES}
ZUNIONSTORE key 2 key key {WEIGHTS score score|AGGREGATE aggregate}
ZINTERSTORE key 2 key key {WEIGHTS score score|AGGREGATE aggregate}
ZDIFFSTORE key 2 key key
ZUNIONSTORE key numkeys key... {WEIGHTS score...|AGGREGATE aggregate|WITHSCORES}
ZINTERCARD numkeys key... {LIMIT count}
ZRANDMEMBER key
ZRANDMEMBER key pick
ZRANDMEMBER key pick WITHSCORES
ZSCAN key 0 {MATCH pattern|COUNT count}
ZSCAN key 0 COUNT 1000
MULTI ; BZPOPMIN key... timeout ; EXEC
MULTI ; BZPOPMAX key... timeout ; EXEC
MULTI ; BZMPOP timeout 1 key (MIN|MAX) {COUNT count} ; EXEC
SADD key member...
SORT key {ALPHA|ASC|DESC|LIMIT skip count|STORE key|BY nosort}
OBJECT ENCODING key
"""

WORDS = {
    "member": r'a|b|c|d|e|1|10|""|\x00\xff|a-longer-member-than-others|ab|aa',
    "bound": r'-inf|+inf|inf|0|1|"(1"|2|"(2"|-1|1.5|"(-inf"|"(inf"|"("|1e400|nan|"(0"|10',
    "lex": r'-|+|"[a"|"(a"|"[b"|"(c"|"[ab"|"["|"("|a|"[\xff"',
    "skip": "0|1|2|3|100|4294967296",
    "aggregate": "SUM|MIN|MAX|sum|AVG",
    "pick": "1|2|0|-1|-3|100|-100",
    "numkeys": "1|2|3|0|-1|4",
    "timeout": "0|1|0.5|-1|abc|inf",
}
