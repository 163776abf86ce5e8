"""The bits that commands, clients, callers and the engine carry. Flags, not names.

A request in an ordinary state passes one test, `client.flags | engine.flags`: when the result is zero
nothing can forbid, delay or observe it. Every unusual state is a bit here, and sends the request
through the ordered checks of `admission.py`.
"""

from typing import Final

# -- commands: those that COMMAND INFO shows, in its order ---------------------------------------
WRITE: Final = 1 << 0
READONLY: Final = 1 << 1
DENYOOM: Final = 1 << 2
MODULE: Final = 1 << 3
ADMIN: Final = 1 << 4
PUBSUB: Final = 1 << 5
NOSCRIPT: Final = 1 << 6
BLOCKING: Final = 1 << 8
LOADING: Final = 1 << 9
STALE: Final = 1 << 10
SKIP_MONITOR: Final = 1 << 11
SKIP_SLOWLOG: Final = 1 << 12
ASKING: Final = 1 << 13
FAST: Final = 1 << 14
NO_AUTH: Final = 1 << 15
MOVABLE_KEYS: Final = 1 << 17
NO_MANDATORY_KEYS: Final = 1 << 18
ALLOW_BUSY: Final = 1 << 19
NO_MULTI: Final = 1 << 20
NO_ASYNC_LOADING: Final = 1 << 21

FLAG_NAMES: Final[dict[str, int]] = {
    "write": WRITE,
    "readonly": READONLY,
    "denyoom": DENYOOM,
    "module": MODULE,
    "admin": ADMIN,
    "pubsub": PUBSUB,
    "noscript": NOSCRIPT,
    "blocking": BLOCKING,
    "loading": LOADING,
    "stale": STALE,
    "skip_monitor": SKIP_MONITOR,
    "skip_slowlog": SKIP_SLOWLOG,
    "asking": ASKING,
    "fast": FAST,
    "no_auth": NO_AUTH,
    "movablekeys": MOVABLE_KEYS,
    "no_mandatory_keys": NO_MANDATORY_KEYS,
    "allow_busy": ALLOW_BUSY,
    "no_multi": NO_MULTI,
    "no_async_loading": NO_ASYNC_LOADING,
}

# -- commands: our own, shown to nobody ----------------------------------------------------------
#: Runs at once within MULTI instead of being queued (EXEC, DISCARD, MULTI, WATCH, QUIT, RESET).
UNQUEUED: Final = 1 << 32
#: Counts as a write for CLIENT PAUSE and read-only scripts, though it changes no key.
MAY_REPLICATE: Final = 1 << 16
#: Allowed to a RESP2 connection in subscriber mode.
IN_SUBSCRIBER_MODE: Final = 1 << 33
#: Its rejection ends the transaction with EXECABORT.
ENDS_MULTI: Final = 1 << 34
#: Still runs while clients are paused.
UNPAUSED: Final = 1 << 35

#: Parked, it tries again even when the key it waits for is gone (XREADGROUP answers an error then).
WAKES_WITHOUT_KEY: Final = 1 << 36
#: CLIENT CACHING still holds after it.
KEEPS_CACHING: Final = 1 << 37
#: Marks keys as used even for a client with NO-TOUCH (TOUCH).
TOUCHES: Final = 1 << 38
#: Its arguments are channels (the ACL checks them): all of them, or only the first.
NAMES_CHANNELS: Final = 1 << 39
NAMES_ONE_CHANNEL: Final = 1 << 40
#: They are patterns of channels.
NAMES_PATTERNS: Final = 1 << 41
#: Runs a script, which may declare flags of its own.
RUNS_SCRIPT: Final = 1 << 42
#: What it runs is a function of a library.
CALLS_FUNCTION: Final = 1 << 45
#: What may take so long that others are answered meanwhile.
MAY_LAST: Final = RUNS_SCRIPT | ENDS_MULTI
#: Moves keys to another node, so it runs wherever the slot is (MIGRATE).
MOVES_KEYS: Final = 1 << 43
#: ASKING still holds after it.
KEEPS_ASKING: Final = 1 << 44
#: One of REDOUBLE's: faults, traces and lint leave it alone.
CONTROL: Final = 1 << 46
#: Looks at every key of the database (KEYS).
WALKS_KEYS: Final = 1 << 47
#: Its first argument is the text of a script, not its digest or the name of a function.
CARRIES_SCRIPT: Final = 1 << 48
#: Removes all keys of the database, or of all databases.
EMPTIES_DATABASE: Final = 1 << 49
EMPTIES_SERVER: Final = 1 << 50
#: Keys come to be in another database without being named.
SWAPS_DATABASES: Final = 1 << 51
#: Where the time-out of a command that may wait stands: its first argument, its last, or behind BLOCK.
TIMEOUT_FIRST: Final = 1 << 52
TIMEOUT_LAST: Final = 1 << 53
TIMEOUT_OPTION: Final = 1 << 54
#: Doesn't mind keys of another type than its group's (MGET), or not every one (ZUNION takes sets too).
ANY_TYPE: Final = 1 << 55
#: Allowed only where `enable-debug-command` or `enable-module-command` say so.
NEEDS_DEBUG: Final = 1 << 56
NEEDS_MODULES: Final = 1 << 57
MUST_BE_ENABLED: Final = NEEDS_DEBUG | NEEDS_MODULES
#: What is looked at once more before it runs.
SPECIAL: Final = MAY_LAST | MUST_BE_ENABLED

OWN_FLAG_NAMES: Final[dict[str, int]] = {
    "may_replicate": MAY_REPLICATE,
    "unqueued": UNQUEUED,
    "in_subscriber_mode": IN_SUBSCRIBER_MODE,
    "ends_multi": ENDS_MULTI,
    "unpaused": UNPAUSED,
    "wakes_without_key": WAKES_WITHOUT_KEY,
    "keeps_caching": KEEPS_CACHING,
    "touches": TOUCHES,
    "names_channels": NAMES_CHANNELS,
    "names_one_channel": NAMES_ONE_CHANNEL,
    "names_patterns": NAMES_PATTERNS,
    "runs_script": RUNS_SCRIPT,
    "calls_function": CALLS_FUNCTION,
    "moves_keys": MOVES_KEYS,
    "keeps_asking": KEEPS_ASKING,
    "control": CONTROL,
    "walks_keys": WALKS_KEYS,
    "carries_script": CARRIES_SCRIPT,
    "empties_database": EMPTIES_DATABASE,
    "empties_server": EMPTIES_SERVER,
    "swaps_databases": SWAPS_DATABASES,
    "timeout_first": TIMEOUT_FIRST,
    "timeout_last": TIMEOUT_LAST,
    "timeout_option": TIMEOUT_OPTION,
    "any_type": ANY_TYPE,
    "needs_debug": NEEDS_DEBUG,
    "needs_modules": NEEDS_MODULES,
}

# -- clients: unusual states ---------------------------------------------------------------------
UNAUTHENTICATED: Final = 1 << 0
#: Its user may not do everything.
RESTRICTED: Final = 1 << 1
IN_MULTI: Final = 1 << 2
SUBSCRIBER: Final = 1 << 3
BLOCKED: Final = 1 << 4
#: Its next request waits for the end of CLIENT PAUSE.
POSTPONED: Final = 1 << 5
CLOSING: Final = 1 << 6
MONITOR: Final = 1 << 7
REPLY_OFF: Final = 1 << 8
REPLY_SKIP_NEXT: Final = 1 << 9
REPLY_SKIP: Final = 1 << 10
TRACKING: Final = 1 << 11
NO_EVICT: Final = 1 << 12
NO_TOUCH: Final = 1 << 13
READONLY_NODE: Final = 1 << 14
ASKING_NEXT: Final = 1 << 15
#: A fault holds it; see `powers/faults.py`.
HELD_BY_FAULT: Final = 1 << 16
#: The connection ends when the command that runs has been answered.
ENDING: Final = 1 << 17
#: Pushes wait for the reply of the command that runs.
PUSHES_WAIT: Final = 1 << 18
#: A replica: it hears of every change.
FOLLOWER: Final = 1 << 19
#: Its script, or the transaction with it, has been left in the middle.
IN_LONG_SCRIPT: Final = 1 << 20
#: The request that is due, and those after it, run within the fiber; see `longscripts.py`.
ENTERS_FIBER: Final = 1 << 21
#: A fault follows the reply of the command that runs.
FAULT_DUE: Final = 1 << 22
#: A fault has held the request that runs next: no other is to hit it.
PAST_FAULT: Final = 1 << 23

#: States in which a client's further requests wait in its inbox.
HELD: Final = BLOCKED | POSTPONED | CLOSING | HELD_BY_FAULT | IN_LONG_SCRIPT | ENTERS_FIBER

#: States that end (or go on) when a command is done.
AFTERMATH: Final = REPLY_SKIP | REPLY_SKIP_NEXT | NO_TOUCH | TRACKING | ENDING | PUSHES_WAIT | ASKING_NEXT | FAULT_DUE
#: States of a request that has not been answered yet, though `admission.py` keeps it from running.
UNANSWERED: Final = POSTPONED | HELD_BY_FAULT

# -- the engine: unusual states that concern every client ----------------------------------------
PAUSED: Final = 1 << 41
BUSY_SCRIPT: Final = 1 << 42
MEMORY_LIMITED: Final = 1 << 43
CLUSTERED: Final = 1 << 44
#: It follows a master: clients may not write.
REPLICA: Final = 1 << 45
#: min-replicas-to-write asks for more replicas than there are.
LACKS_REPLICAS: Final = 1 << 46
#: There are fault rules that may still act.
FAULTY: Final = 1 << 47
#: maxmemory-clients holds.
CLIENTS_LIMITED: Final = 1 << 48

# -- the engine: what a flush has to do besides ---------------------------------------------------
#: Prefixes of client-side caching have changed keys.
BROADCAST: Final = 1 << 0
#: Clients are closed when all together take too much memory.
RELIEVE: Final = 1 << 1

# -- the engine: who looks at every command that `call` has run -----------------------------------
MONITORED: Final = 1 << 0
TRACKED: Final = 1 << 1
TRACED: Final = 1 << 2
FED: Final = 1 << 3
LINTED: Final = 1 << 4
#: Ordinary clients have a hard limit of output.
WEIGHED: Final = 1 << 5
#: The keys come from a snapshot: it must know which of them change.
KEPT: Final = 1 << 8

# -- callers ---------------------------------------------------------------------------------------
#: A command that would block answers as if its time were up.
DENY_BLOCKING: Final = 1 << 0
IN_SCRIPT: Final = 1 << 1
IN_EXEC: Final = 1 << 2
#: Writes are refused (EVAL_RO, a no-writes script).
READ_ONLY: Final = 1 << 3
#: Runs a parked client's command again: `Block` means it goes on waiting.
WAKING: Final = 1 << 4
#: Replicas are not told of what it does (redis.set_repl).
UNTOLD: Final = 1 << 5
