"""Libraries of functions: loading, calling, listing, moving them."""

LINES = """
FUNCTION LOAD [REPLACE] library
FUNCTION LOAD [REPLACE] library
FUNCTION LOAD {REPLACE|NOSUCH} broken
FUNCTION LOAD broken
FCALL function (0|1|1|2) key value...
FCALL function 1 key value
FCALL function (0|-1|x|3) key
FCALL_RO function (0|1) key value
FCALL_RO function 1 key
FUNCTION DELETE name
FUNCTION LIST {WITHCODE|LIBRARYNAME pattern_of_name|NOSUCH}
FUNCTION LIST LIBRARYNAME pattern_of_name WITHCODE
FUNCTION STATS
FUNCTION FLUSH [SYNC|ASYNC|NOW]
FUNCTION DUMP
FUNCTION RESTORE payload [APPEND|REPLACE|FLUSH|NOW]
FUNCTION KILL
FUNCTION NOSUCH
MULTI ; FUNCTION LOAD library ; FCALL function 1 key value ; FUNCTION DELETE name ; EXEC
EVAL "return redis.call('FCALL','f',1,KEYS[1])" 1 key
EVAL "return redis.call('FUNCTION','LIST')" 0
SET key value
GET key
HSET key value value
"""

WORDS: dict[str, str | list[str]] = {
    "name": 'lib|other|third|nobody|""',
    "function": "f|g|ro|bad|nobody|F",
    "pattern_of_name": '*|l*|LIB|other|"[lt]*"|x',
    "library": [
        "#!lua name=lib\nredis.register_function('f', function(keys, args) return redis.call('SET', keys[1], args[1] or 'x') end)",
        "#!lua name=lib\nlocal n = 0 redis.register_function('f', function(keys, args) n = n + 1 return n end)",
        "#!lua name=other\nredis.register_function('g', function(keys, args) return {keys, args, #keys} end)",
        "#!lua name=other\nredis.register_function{function_name='ro', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}",
        "#!lua name=third\nredis.register_function('f', function() return 'third' end) redis.register_function('bad', function() return redis.call('NOSUCH') end)",
        "#!lua name=third\nredis.register_function{function_name='g', callback=function(k, a) return redis.call('INCR', k[1]) end, flags={'allow-oom', 'allow-stale', 'no-cluster'}, description='counts'}",
        "#!lua name=third\nredis.register_function{function_name='bad', callback=function(k) return redis.error_reply('My error') end} redis.register_function('ro', function() error({err='ERR thrown'}) end)",
    ],
    "broken": [
        "return 1", "#!lua\nreturn 1", "#!lua name=\nx", "#!lua name=x\nreturn 1", "#!js name=x\nreturn 1", "#!lua name=x y=z\nx",
        "#!lua name=a-b\nredis.register_function('f', function() end)", "#!lua name=x\nlocal", "#!lua name=x\nerror('oops')",
        "#!lua name=x\nredis.register_function('f')", "#!lua name=x\nredis.register_function(1, 2)", "",
        "#!lua name=x\nredis.register_function('a b', function() end)", "#!lua name=x\nredis.call('GET', 'a')", "#!lua name=x",
        "#!lua name=x\nredis.register_function('f', function() end) redis.register_function('f', function() end)",
        "#!lua name=x\nredis.register_function{function_name='f', callback=function() end, flags={'nosuch'}}",
        "#!lua name=x\nredis.register_function{function_name='f', nosuch=1}", "#!lua name=x name=y\nreturn 1",
        "#!lua name=x\nredis.register_function{callback=function() end}", "#!lua name=x\nnosuch()", "#!lua name=x\nnosuch = 1",
    ],
    "payload": ["", "x", "\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x0a\x00abcdefgh"],
}  # fmt: skip
