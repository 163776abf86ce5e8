"""Streams and their groups."""

LINES = """
XADD key id (field value)...
XADD key id (field value)...
XADD key {NOMKSTREAM|trim} id (field value)...
XLEN key
XRANGE key from to [COUNT count]
XREVRANGE key to from [COUNT count]
XDEL key id...
XTRIM key trim
XSETID key id {ENTRIESADDED count|MAXDELETEDID id}
XREAD {COUNT count} STREAMS key position
XREAD {COUNT count} STREAMS key key position position
MULTI ; XREAD BLOCK 0 STREAMS key position ; EXEC
XGROUP CREATE key group position {MKSTREAM|ENTRIESREAD count}
XGROUP CREATE key group 0 MKSTREAM
XGROUP SETID key group position {ENTRIESREAD count}
XGROUP DESTROY key group
XGROUP CREATECONSUMER key group consumer
XGROUP DELCONSUMER key group consumer
XREADGROUP GROUP group consumer {COUNT count|NOACK} STREAMS key (new|new|new|0|id)
XREADGROUP GROUP group consumer {COUNT count|NOACK} STREAMS key key (new|0|id) (new|0|id)
XREADGROUP GROUP group consumer STREAMS key new
MULTI ; XREADGROUP GROUP group consumer BLOCK 0 STREAMS key new ; EXEC
XACK key group id...
XPENDING key group
XPENDING key group from to count [consumer]
XPENDING key group IDLE (0|0|100000|-1) from to count [consumer]
XCLAIM key group consumer (0|0|1000000|-5) id... {IDLE (0|100000)|TIME (1|1700000000000)|RETRYCOUNT count|FORCE|JUSTID|LASTID id}
XAUTOCLAIM key group consumer (0|0|1000000) from {COUNT count|JUSTID}
XINFO STREAM key
XINFO STREAM key FULL {COUNT count}
XINFO GROUPS key
XINFO CONSUMERS key group
OBJECT ENCODING key
"""

WORDS = {
    "key": "a|b|a|b|c",
    "new": '">"',
    "field": r'f|g|h|1|""|f|g',
    "group": "g|h|g|h|nobody",
    "consumer": r'alice|bob|""',
    "id": "1-1|1-2|2-0|2-1|3|5-0|5-5|9-9|1-*|5-*|9-*|*|0-0|0-1|9999999999999-0|18446744073709551615-18446744073709551615"
    "|18446744073709551616-0|1-|-1|7-1|4-1|6-6|8-0|3-3|3-4|10-1|11-1|12-1",
    "from": r'-|0|1-1|2|"(1-1"|5-5|3-0|"(-"|$',
    "to": r'+|+|9-9|5|"(5-5"|2-1|"(+"|18446744073709551615',
    "position": "0|0-0|$|1-1|2|5-5|new|+",
    "trim": "MAXLEN trim_mode count|MINID trim_mode id|MAXLEN ~ count LIMIT count|MINID ~ id LIMIT count|MAXLEN count LIMIT 1",
    "trim_mode": "=|~|()",
}
