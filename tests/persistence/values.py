"""Strategies for values of all types, as the commands that make them."""

from hypothesis import strategies as st

#: A command without its name and key, and the name.
Recipe = list[list[bytes | int | str]]

SHORT = st.one_of(
    st.binary(max_size=8),
    st.sampled_from([b"", b"12", b"-1", b"65536", b"4294967296", b"9223372036854775807", b"007", b"1.5", b"x" * 64]),
    st.sampled_from([b"ab" * 40, b"y" * 65, bytes(range(200))]),
)
SCORES = st.one_of(
    st.sampled_from([0.0, -1.0, 0.1, 1e17, 5e9, float("inf"), float("-inf"), 5e-324]),
    st.floats(allow_nan=False).map(lambda score: score + 0.0),
)


def _command(name: str, *args: bytes | int | str) -> list[bytes | int | str]:
    return [name, "key", *args]


def _flat(pairs: dict[bytes, bytes]) -> list[bytes]:
    return [text for pair in pairs.items() for text in pair]


STRINGS = st.one_of(SHORT, st.lists(SHORT, max_size=30).map(b"".join)).map(lambda text: [_command("SET", text)])
LISTS = st.lists(SHORT, min_size=1, max_size=20).map(lambda items: [_command("RPUSH", *items)])
BIG_LISTS = st.integers(150, 400).map(lambda count: [_command("RPUSH", *[b"%d" % n * 20 for n in range(count)])])
INTSETS = st.sets(st.integers(-(1 << 63), (1 << 63) - 1), min_size=1, max_size=20).map(
    lambda members: [_command("SADD", *members)]
)
SETS = st.sets(SHORT, min_size=1, max_size=20).map(lambda members: [_command("SADD", *members)])
HASHES = st.dictionaries(SHORT, SHORT, min_size=1, max_size=12).map(lambda pairs: [_command("HSET", *_flat(pairs))])
SORTED_SETS = st.dictionaries(SHORT, SCORES, min_size=1, max_size=12).map(
    lambda scores: [_command("ZADD", *[text for member, score in scores.items() for text in (repr(score), member)])]
)
BIG_SORTED_SETS = st.integers(129, 200).map(
    lambda count: [_command("ZADD", *[text for n in range(count) for text in (str(n / 7), b"%d" % n)])]
)


@st.composite
def streams(draw: st.DrawFn) -> Recipe:
    """Entries, some of them deleted, and perhaps a group."""
    steps = draw(st.lists(st.tuples(st.sampled_from([0, 1, 70000]), st.integers(1, 300)), min_size=1, max_size=15))
    names = draw(st.lists(SHORT, min_size=1, max_size=3))
    recipe: Recipe = []
    ids: list[str] = []
    ms, sequence = 1, 0
    for step, more in steps:
        ms, sequence = ms + step, (sequence if step == 0 else 0) + more
        ids.append(f"{ms}-{sequence}")
        if draw(st.booleans()):
            names = draw(st.lists(SHORT, min_size=1, max_size=3))
        recipe.append(_command("XADD", ids[-1], *[text for name in names for text in (name, draw(SHORT))]))
    if draw(st.booleans()):
        recipe.append(_command("XGROUP", "CREATE", "group", draw(st.sampled_from(["0", "$"]))))
        recipe[-1] = ["XGROUP", "CREATE", "key", *recipe[-1][3:]]
        for name in draw(st.lists(st.sampled_from(["one", "two"]), max_size=3)):
            recipe.append(["XREADGROUP", "GROUP", "group", name, "COUNT", 2, "STREAMS", "key", ">"])
    for id in draw(st.lists(st.sampled_from(ids), max_size=3)):
        recipe.append(_command("XDEL", id))
    return recipe


VALUES = st.one_of(
    STRINGS, LISTS, BIG_LISTS, INTSETS, SETS, HASHES, SORTED_SETS, BIG_SORTED_SETS, streams()
)  # fmt: skip
#: Those whose payload is the same everywhere.
ORDERED_VALUES = st.one_of(STRINGS, LISTS, INTSETS, HASHES, SORTED_SETS, BIG_SORTED_SETS)
