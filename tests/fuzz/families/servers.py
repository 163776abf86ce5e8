"""The command table, the configuration, logs, help, and what a server without a cluster says of it."""

LINES = """
COMMAND GETKEYS whole
COMMAND GETKEYSANDFLAGS whole
COMMAND GETKEYS (GET|NOSUCH|PING|CONFIG GET|OBJECT) [key]
COMMAND COUNT
COMMAND INFO (nosuch|"config|nosuch"|"")...
COMMAND LIST FILTERBY (MODULE nosuch|ACLCAT category|PATTERN glob|NOSUCH x)
COMMAND LIST x
COMMAND DOCS nosuch
COMMAND NOSUCH
CONFIG GET parameter...
CONFIG GET nosuch
CONFIG SET (parameter setting)...
CONFIG SET parameter setting
CONFIG SET parameter
CONFIG RESETSTAT
CONFIG REWRITE
CONFIG NOSUCH
SLOWLOG (LEN|RESET|GET 0|GET x|NOSUCH|LEN x)
LATENCY (LATEST|RESET|RESET nosuch|HISTORY nosuch|HISTORY|GRAPH nosuch|NOSUCH|HISTOGRAM nosuch)
MEMORY (USAGE nobody|USAGE nobody SAMPLES 5|USAGE nobody SAMPLES -1|USAGE key NOSUCH 5|NOSUCH|PURGE|PURGE x)
MODULE (LIST|NOSUCH|UNLOAD nosuch)
OBJECT (NOSUCH key|ENCODING|FREQ key|REFCOUNT nobody|IDLETIME nobody)
SCRIPT (FLUSH|FLUSH SYNC|FLUSH NOW|EXISTS|KILL|DEBUG x|DEBUG|NOSUCH|SHOW x)
container HELP
container HELP x
CLUSTER (INFO|KEYSLOT a|KEYSLOT "{a}b"|NODES|SLOTS|NOSUCH|MYID|COUNTKEYSINSLOT 1)
DEBUG (SLEEP 0|OBJECT nobody|SET-ACTIVE-EXPIRE 1)
PFSELFTEST
LOLWUT VERSION 1 1 1 1
SWAPDB (0|1|x) (0|1|99)
SAVE x
FAILOVER (ABORT|TO 1.2.3.4 5)
RESTORE key ttl payload {REPLACE|ABSTTL|IDLETIME (5|-1|x)|FREQ (5|256|x)|NOSUCH}
RESTORE key ttl sound {REPLACE|ABSTTL|IDLETIME (5|-1|x)|FREQ (5|256|x)}
RESTORE-ASKING key 0 sound REPLACE
DUMP key
MULTI ; CONFIG GET parameter ; COMMAND COUNT ; OBJECT ENCODING key ; EXEC
SET key value
RPUSH key value...
OBJECT FREQ key
INFO (nosuch|server|clients|replication|cluster|keyspace|persistence|stats|memory|modules|all|"")...
INFO
XINFO NOSUCH
XGROUP NOSUCH a b
PUBSUB NOSUCH
"""

WORDS: dict[str, str | list[str]] = {
    "ttl": "0|1000000|-1|x|9223372036854775807|4102444800000|1",
    "payload": ["", "x", "\x00\x01x\x0a\x00", "\x00\x01x\x0a\x00abcdefgh", "\x00\x01x\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"],
    "sound": ["\x00\xc0\x01\n\x00&x\xe7\xb6\xd1\x01\x11\xfc"],
    "whole": "GET key|MSET (key value)...|MSET key value key|EVAL \"return 1\" (0|1|2|9|x|-1) key...|ZUNIONSTORE key (0|1|2|5|x) key...|SORT key {BY w*|GET #|STORE key|LIMIT 0 1}"
    "|XREAD {COUNT 1|BLOCK 0} STREAMS key key 0 0|XREAD STREAMS key|XREADGROUP GROUP g c STREAMS key 0|GEORADIUS key 1 1 1 m {STORE key|STOREDIST key|ASC}|BLMPOP 0 (1|2|0) key key LEFT"
    "|LMPOP (1|2|3) key key LEFT|SET key value {GET|EX 5}|COPY key key|RENAME key key|BITOP AND key key key|OBJECT ENCODING key|XGROUP CREATE key g 0|MIGRATE h 1 (key|\"\") 0 5 {KEYS key key|COPY|AUTH x}"
    "|LCS key key|SINTERCARD 2 key key|FCALL f 1 key|HSET key a b|GETEX key|MEMORY USAGE key|PFDEBUG ENCODING key|PFCOUNT key key|SINTERSTORE key key|GEOSEARCHSTORE key key FROMMEMBER x|PUBLISH c x|SUBSCRIBE c",
    "name": "get|GET|nosuch|config|\"config|get\"|\"CONFIG|GET\"|\"config|nosuch\"|xadd|sort|eval|zunionstore|\"client|list\"|bitfield|migrate|restore-asking|spop|watch|georadius|set|pfcount|\"\"",
    "category": "keyspace|read|write|hash|dangerous|nosuch|scripting|blocking|\"\"|READ",
    "glob": "get*|*|\"x*\"|nosuch|\"*|list\"|\"config|*\"|GET",
    "parameter": "maxmemory-samples|hz|slowlog-max-len|list-compress-depth|maxmemory-policy|activerehashing|lua-time-limit|busy-reply-threshold"
    "|databases|nosuch|tcp-keepalive|stream-node-max-bytes|lfu-decay-time|lfu-log-factor|lazyfree-lazy-expire|latency-tracking-info-percentiles|client-output-buffer-limit|oom-score-adj-values|slowlog-*|MAXMEMORY-SAMPLES|hll-sparse-max-bytes|active-expire-effort|repl-backlog-size",
    "setting": "1|0|-1|10|x|yes|no|noeviction|allkeys-lfu|1kb|1gb|5%|\"\"|\"50 99\"|\"normal 0 0 0\"|\"1 2 3\"|128|100|\"3600 1\"",
    "container": "ACL|CLIENT|CLUSTER|COMMAND|CONFIG|FUNCTION|LATENCY|MEMORY|MODULE|OBJECT|PUBSUB|SCRIPT|SLOWLOG|XGROUP|XINFO",
}  # fmt: skip
