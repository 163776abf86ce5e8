"""Doubles read and printed as real servers do: Redis 7.0 with `%.17g`, Valkey as Redis since 7.2."""

import math
import random
import struct

from redouble.doubles import format_double, parse_double

TEXTS = b"""0 1 -1 +1 00012 1.5 .5 5. -.5e1 1e3 1E+3 1e-3 1e 1e+ 0x10 0X1F -0x1 0x 0x.8 0x1p3 0x1p 0xg
    inf +inf -inf INF Infinity iNfInItY -infinity infi nan NaN -nan nan(1) 1_0 1,5 abc 1abc --1 . e5 - +
    1e308 1e309 -1e309 1e-308 5e-324 1e-323 1e-400 -1e-400 0e5 0e-999 0.000e7 -0 0x1p1023 0x1p1024 0x1p-1074
    0x1p-1080 0x0p9 0x0p-9999 9007199254740993 123456789012345678901234567890 (1 [1""".split()
TEXTS += [b"", b" ", b" 1", b"1 ", b"\t1", b"1\n", b"1\0", b"\x001", b"0x1" + b"f" * 300, b"1" * 400]

CHOSEN = [
    *(0.0, -0.0, 0.1, 1.5, 100.1, 3.0e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e-5, 1e-6, 1e-7, 1.234e-5),
    *(9007199254740993.0, 4503599627370496.5, 2.0**62, -(2.0**62), 2.0**62 + 1024, 2.0**63, 1.7000021086720681e9),
    *(5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 2.225073858507201e-308, -1.5e25, 4118.900000000001),
]


def numbers() -> list[float]:
    rng = random.Random(11)
    some = CHOSEN + [2.0**power for power in range(-1074, 1024, 7)]
    some += [float(f"{digit}e{power}") for digit in (1, 2, 5, 9.5) for power in range(-323, 308, 3)]
    for _ in range(1500):
        value = struct.unpack("<d", rng.randbytes(8))[0]
        if math.isfinite(value):
            some.append(value)
        some.append(rng.random() * 10 ** rng.randrange(-20, 30))
        some.append(0.1 * rng.randrange(10**6))
        some.append(-(1.7e9 + rng.randrange(10**12) / 1e6))
        some.append(5e-324 * rng.randrange(1, 2 ** rng.randrange(2, 60)))
    return some


def printed_by(server, some: list[float]) -> list[bytes]:
    """What ZSCORE prints for each number."""
    server.ask("DEL", "z")
    # More than 128 members from the start, so that the sign of a zero is kept.
    server.ask("ZADD", "z", *[word for index in range(200) for word in ("7", f"filler{index}")])
    server.ask_all([("ZADD", "z", repr(value), index) for index, value in enumerate(some)])
    return server.ask_all([("ZSCORE", "z", index) for index in range(len(some))])


def test_scores_are_read_as_the_server_reads_them(real_redis):
    for text in TEXTS:
        real_redis.ask("DEL", "z")
        answer = real_redis.ask("ZADD", "z", text, "m")
        value = parse_double(text)
        if value is None:
            assert str(answer) == "ERR value is not a valid float", text
        else:
            assert real_redis.ask("ZSCORE", "z", "m") == format_double(value + 0.0, False), text


def test_scores_are_printed_as_redis_7_0_does(real_redis):
    some = numbers()
    assert [format_double(value, False) for value in some] == printed_by(real_redis, some)


def test_scores_are_printed_as_later_servers_do(real_valkey):
    some = numbers()
    assert [format_double(value) for value in some] == printed_by(real_valkey, some)


def test_what_is_printed_reads_back_as_the_same_number():
    for value in numbers():
        for shortest in (True, False):
            back = parse_double(format_double(value, shortest))
            assert back == value and math.copysign(1, back) == math.copysign(1, value)
    for shortest in (True, False):
        assert format_double(math.inf, shortest) == b"inf"
        assert format_double(-math.inf, shortest) == b"-inf"
