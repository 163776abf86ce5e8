"""Messages between two connections, and what a server tells of keys that clients have read."""

LINES = """
SUBSCRIBE channel...
@2 SUBSCRIBE channel...
PSUBSCRIBE glob...
@2 PSUBSCRIBE glob...
SSUBSCRIBE channel
@2 SSUBSCRIBE channel channel
UNSUBSCRIBE [channel...]
@2 UNSUBSCRIBE [channel]
PUNSUBSCRIBE [glob...]
SUNSUBSCRIBE [channel...]
PUBLISH channel value
@2 PUBLISH channel value
@2 PUBLISH channel value
SPUBLISH channel value
@2 SPUBLISH channel value
PUBSUB CHANNELS [glob]
@2 PUBSUB CHANNELS
@2 PUBSUB NUMSUB channel...
PUBSUB NUMSUB
@2 PUBSUB NUMPAT
@2 PUBSUB SHARDCHANNELS [glob]
@2 PUBSUB SHARDNUMSUB channel...
PUBSUB (NOSUCH|CHANNELS|NUMPAT) channel channel
PING [value]
PING value value
RESET
GET key
MULTI ; PUBLISH channel value ; SUBSCRIBE channel ; SPUBLISH channel value ; EXEC
@2 MULTI ; @2 PUBLISH channel value ; @2 SET key value ; @2 PUBLISH channel value ; @2 EXEC
@2 EVAL "return redis.call('PUBLISH',KEYS[1],ARGV[1])" 1 channel value
EVAL "return redis.call('SUBSCRIBE',KEYS[1])" 1 channel
HELLO (2|3)
CLIENT TRACKING (ON|ON|ON|OFF|no) {BCAST|OPTIN|OPTOUT|NOLOOP|PREFIX prefix|REDIRECT 0|REDIRECT 999999}
CLIENT TRACKING ON
CLIENT TRACKING ON BCAST PREFIX prefix
CLIENT CACHING (YES|NO|x) ; GET key
CLIENT GETREDIR
CLIENT TRACKINGINFO
GET key ; @2 SET key value
MGET key key ; @2 DEL key
GET key ; SET key value
@2 SET key value EX 100
@2 MSET key value key value
@2 MULTI ; @2 SET key value ; @2 DEL key ; @2 EXEC
GET key ; @2 RENAME key key
EXISTS key ; @2 INCR key
@2 FLUSHALL
GET key ; @2 FLUSHDB
SELECT (0|1)
GET key ; @2 EXPIRE key 0
SET key value PX 1 ; GET key ; @wait
"""

WORDS = {
    "channel": 'news|sport|"{a}x"|""',
    "glob": '*|n*|"[ns]*"|news|""',
    "prefix": 'a|b|ab|""',
    "value": "x|1|hello",
}
