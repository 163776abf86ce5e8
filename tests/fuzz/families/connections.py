"""What a connection says about itself, and users' rights."""

LINES = """
HELLO [2|3|4|x|1]
HELLO (2|3) {AUTH user password|SETNAME title|NOSUCH}
AUTH password
AUTH user password
CLIENT SETNAME title
CLIENT GETNAME
CLIENT NO-EVICT (ON|OFF|x)
CLIENT REPLY (ON|x)
CLIENT UNBLOCK (999999|x|-1) [TIMEOUT|ERROR|NOW]
CLIENT UNPAUSE
CLIENT PAUSE (0|x|-1) [WRITE|ALL|SOME]
CLIENT KILL (ID 999999|ID x|"1.2.3.4:5"|TYPE nosuch|USER nobody|LADDR 1.2.3.4:5|ADDR 1.2.3.4:5|SKIPME maybe)
CLIENT KILL ID 999999 {TYPE normal|SKIPME yes|USER user}
CLIENT LIST (TYPE nosuch|ID 999999|ID x|NOSUCH)
CLIENT INFO
CLIENT ID
CLIENT NOSUCH
ECHO value
PING [value]
SELECT (0|1|15|16|-1|x)
RESET
READONLY
READWRITE
ASKING
WAIT (0|-1|x) (0|1|-1)
REPLICAOF NO ONE
ACL WHOAMI
ACL USERS
ACL CAT [nosuch|keyspace|read|write|hash|dangerous|scripting]
ACL SETUSER user rule...
ACL SETUSER user reset on nopass rule... ; ACL DRYRUN user command
ACL SETUSER user reset rule... ; ACL GETUSER user
ACL DRYRUN user command
ACL DRYRUN user (GET|SET|NOSUCH|CONFIG) [a]
ACL GETUSER (user|default|nobody)
ACL LIST
ACL DELUSER user...
ACL GENPASS (0|x|-1|100000)
ACL LOG [RESET|x|0]
ACL SAVE
ACL LOAD
ACL NOSUCH
ACL SETUSER alice reset on nopass rule... ; AUTH alice x ; command ; MULTI ; command ; EXEC ; RESET
GET key
SET key value
"""

WORDS = {
    "user": "alice|bob|alice|bob",
    "password": 'x|secret|""',
    "title": 'me|"two words"|""|you|"\\n"',
    "rule": 'on|off|nopass|">secret"|"<secret"|~*|~a*|%R~a|%W~b*|%RW~c|%X~a|+@all|-@all|+get|+set|-set|+@read|-@write|+@hash|+config|get|"&ch*"'
    '|allkeys|resetkeys|allchannels|resetchannels|allcommands|nocommands|reset|clearselectors|"(+set ~b)"|"(+@read %R~c*)"|"(-@all +get ~*)"'
    "|sanitize-payload|skip-sanitize-payload|resetpass|~|+|@all|+@nosuch|+nosuch|-config|+object"
    "|#2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b|#zz|!00",
    "command": 'GET key|SET key value|MGET key key|COPY key key|HGETALL key|CONFIG GET hz|SORT key STORE key|PING|EVAL "return 1" 1 key'
    "|PUBLISH channel x|RENAME key key|OBJECT ENCODING key|XREAD STREAMS key 0|LMPOP 1 key LEFT|DEL key|SUBSCRIBE",
    "channel": "ch|other",
}
