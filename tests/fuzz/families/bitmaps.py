"""Bits within strings."""

LINES = """
SET key bytes
SETBIT key offset (0|1)
GETBIT key offset
BITCOUNT key
BITCOUNT key index index
BITCOUNT key index index (BYTE|BIT)
BITPOS key (0|1)
BITPOS key (0|1) index
BITPOS key (0|1) index index
BITPOS key (0|1) index index (BYTE|BIT)
BITOP (AND|OR|XOR) key key...
BITOP NOT key key
BITFIELD key field_op...
BITFIELD key field_op...
BITFIELD_RO key (GET field offset)...
GETRANGE key index index
APPEND key bytes
STRLEN key
OBJECT ENCODING key
"""

WORDS = {
    "bytes": r'\x00|\xff|\xff\xff\xff|\x00\x00\x00\x01|foobar|\xf0\x0f|""|12|\x80|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    "offset": "0|1|7|8|15|100|1000|-1|8388608|4294967296|9223372036854775807",
    "field": "u8|i8|u1|i1|u4|i5|u16|i16|u32|i32|u63|i64|u64|i65|u0|i0|x8|u|u7",
    "place": "offset|#0|#1|#3|#100|#-1|#|#9223372036854775807",
    "amount": "1|-1|0|10|127|128|-128|-129|255|256|-300|70000|9223372036854775807|-9223372036854775808|200|100",
    "field_op": "GET field place|SET field place amount|INCRBY field place amount"
    "|OVERFLOW (WRAP|SAT|FAIL) INCRBY field place amount|OVERFLOW (WRAP|SAT|FAIL) SET field place amount",
}
