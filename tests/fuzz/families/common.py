"""Commands that make keys of every type and move them about, for a little disorder in each family."""

LINES = """
SET key value
LPUSH key value...
SADD key value...
HSET key (value value)...
ZADD key (score value)...
XADD key (1-1|5-0|9-9) value value
PFADD key value...
DEL key
RENAME key key
COPY key key [REPLACE]
EXPIRE key seconds
PERSIST key
TYPE key
OBJECT ENCODING key
"""
