"""What came with 8.0: values and deadlines of hash fields in one command."""

LINES = """
HSET key (field value)...
HSETEX key {FNX|FXX|life|KEEPTTL} FIELDS 1 field value
HSETEX key {FNX|FXX|life|KEEPTTL} FIELDS 2 field value field value
HSETEX key {FNX|FXX|life|KEEPTTL} FIELDS number (field value)...
HGETEX key {life|PERSIST} fields
HGETEX key fields
HGETEX key life FIELDS 1 field
HGETDEL key fields
HGETDEL key FIELDS 1 field
HEXPIRE key seconds FIELDS 1 field
HPERSIST key FIELDS 1 field
HPEXPIRETIME key FIELDS 2 field field
HGETALL key
HDEL key field
HLEN key
SCAN 0 TYPE type
SCAN 0 COUNT 1000 {TYPE type|MATCH pattern|COUNT count}
OBJECT ENCODING key
COPY key key REPLACE
RENAME key key
"""

WORDS = {
    "field": r'f|g|h|1|""|\x00|a-longer-name-of-a-field|f|g|f|g',
    "life": "EX seconds|PX milliseconds|EXAT unix|PXAT unix_ms|EX 100|PXAT 4102444800000",
    "fields": "FIELDS 1 field|FIELDS 2 field field|FIELDS 3 field field field|FIELDS number field...",
    "number": "0|-1|1|2|5|x",
    "type": "string|list|set|zset|hash|stream|nonsense|HASH",
}
