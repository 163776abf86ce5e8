"""HyperLogLogs, sparse and dense, and strings that are none."""

LINES = """
PFADD key element...
PFADD key element...
PFADD key
PFCOUNT key...
PFMERGE key key...
PFMERGE key
PFDEBUG ENCODING key
PFDEBUG TODENSE key
PFDEBUG GETREG key
PFDEBUG DECODE key
GET key
STRLEN key
SETRANGE key (0|4|5|8|15|16|20) (HYLL|x|\\x00|\\x80|\\x01\\x02)
APPEND key element
SET key (HYLL|HYLLxxxxxxxxxxxxxxxx|""|x)
COPY key key REPLACE
OBJECT ENCODING key
"""

WORDS = {"element": r'x|y|z|1|2|3|4|5|""|\x00|foo|bar|baz|e1|e2|e3|e4|e5|e6|e7|e8|e9|long-element-name|big'}
