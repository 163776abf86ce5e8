"""GEOADD, GEOSEARCH and the rest: places on earth in a sorted set whose scores are geohashes.

The geometry is in `datatypes/geohash.py`; here are the arguments and the replies. GEOADD is a ZADD of
scores. GEOSEARCH, GEOSEARCHSTORE, GEORADIUS and GEORADIUSBYMEMBER, with their read-only brothers, are
one search: `GeoQuery` collects what the arguments say, `_answer` replies or stores.

The order of checks is Redis': the key is looked up first, the centre of the older commands comes
before the options, and a set that is not there is no error before the options have been read.

Coordinates are written with 17 decimals, distances with four. Simplified: with COUNT, places at exactly
the same distance come in the order in which the search found them; Redis' partial sort may swap them.
"""

from operator import attrgetter
from typing import Final, final

from redouble.commands.sorted_sets import (
    COUNT_CHANGED,
    ONLY_NEW,
    ONLY_OLD,
    add_members,
    store_members,
)
from redouble.datatypes.geohash import (
    UNITS,
    Point,
    Shape,
    box,
    circle,
    decode,
    distance,
    encode,
    geohash_text,
    is_place,
    search,
)
from redouble.datatypes.sortedset import SortedSet
from redouble.doubles import format_fixed
from redouble.engine.command import Family, after, one
from redouble.engine.context import Context
from redouble.errors import SYNTAX, CommandError
from redouble.keyspace.typed import zset_of
from redouble.protocol.numbers import INT64_MIN, double, integer
from redouble.protocol.reply import EMPTY, NULL_ARRAY, Bulks, HumanDouble, Reply

geo: Final = Family("geo")

_OPTIONS: Final[dict[bytes, int]] = {b"NX": ONLY_NEW, b"XX": ONLY_OLD, b"CH": COUNT_CHANGED}

# What a search command may do.
_PLAIN: Final = 0
#: GEORADIUS: STORE and STOREDIST, each with a key.
_STORE_OPTIONS: Final = 1
#: GEOSEARCH: the centre and the shape are options.
_SHAPE_OPTIONS: Final = 2
#: GEOSEARCHSTORE: the destination comes first, STOREDIST is just a word.
_TO_KEY: Final = 4

_UNSORTED: Final = 0
_NEAREST: Final = 1
_FARTHEST: Final = 2
_by_distance: Final = attrgetter("distance")

_RADIUS_OPTIONS = "[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]"
_STORING = "[STORE key | STOREDIST key]"
_SHAPE = (
    "<FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | "
    "BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]]"
)
_EACH = "O(1) for each member requested."
_RADIUS = (
    "O(N+log(M)) where N is the number of elements inside the bounding box of the circular area delimited by center "
    "and radius and M is the number of items inside the index."
)
_SEARCH = (
    "O(N+log(M)) where N is the number of elements in the grid-aligned bounding box area around the shape provided as "
    "the filter and M is the number of items inside the shape"
)


# -- single places -------------------------------------------------------------------------------


@geo.command(
    "geoadd", "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]",
    "Adds members with their places to a sorted set.", arity=-5, flags="write denyoom", keys=[one("RW UPDATE")],
    since="3.2.0", complexity="O(log(N)) for each item added, where N is the number of elements in the sorted set.",
)  # fmt: skip
def geoadd(ctx: Context, argv: list[bytes]) -> Reply:
    """How many members are new (CH: changed). O(members * log n). Redis: GEOADD."""
    options = 0
    at = 2
    end = len(argv)
    while at < end and argv[at].upper() in _OPTIONS:
        options |= _OPTIONS[argv[at].upper()]
        at += 1
    if at == end or (end - at) % 3 or (options & ONLY_NEW and options & ONLY_OLD):
        raise CommandError(SYNTAX)
    scores: list[float] = []
    for index in range(at, end, 3):
        longitude, latitude = _place(argv, index)
        scores.append(float(encode(longitude, latitude)))
    return add_members(ctx, argv[1], options, scores, argv[at + 2 :: 3])


def _place(argv: list[bytes], at: int) -> tuple[float, float]:
    """Longitude and latitude, which stand at `at`."""
    longitude = double(argv[at])
    latitude = double(argv[at + 1])
    if not is_place(longitude, latitude):
        raise CommandError(b"ERR invalid longitude,latitude pair %f,%f" % (longitude, latitude))
    return longitude, latitude


@geo.command(
    "geopos", "key [member [member ...]]", "Returns the longitudes and latitudes of members.", arity=-2,
    flags="readonly", keys=[one("RO ACCESS")], since="3.2.0", complexity=_EACH,
)  # fmt: skip
def geopos(ctx: Context, argv: list[bytes]) -> Reply:
    """A pair or a null array for each member. O(members). Redis: GEOPOS."""
    replies: list[Reply] = []
    for score in _scores(ctx, argv):
        if score is None:
            replies.append(NULL_ARRAY)
        else:
            longitude, latitude = decode(score)
            replies.append(_coordinates(longitude, latitude))
    return replies


def _scores(ctx: Context, argv: list[bytes]) -> list[float | None]:
    """A score or None for each member from `argv[2]` on."""
    zset = zset_of(ctx.db.read(argv[1]))
    return [None if zset is None else zset.score(member) for member in argv[2:]]


def _coordinates(longitude: float, latitude: float) -> list[HumanDouble]:
    return [HumanDouble(longitude), HumanDouble(latitude)]


@geo.command(
    "geohash", "key [member [member ...]]", "Returns the places of members as geohash texts.", arity=-2,
    flags="readonly", keys=[one("RO ACCESS")], since="3.2.0", complexity=_EACH,
)  # fmt: skip
def geohash(ctx: Context, argv: list[bytes]) -> Reply:
    """Eleven letters or null for each member. O(members). Redis: GEOHASH."""
    return [None if score is None else geohash_text(score) for score in _scores(ctx, argv)]


@geo.command(
    "geodist", "key member1 member2 [M | KM | FT | MI]", "Returns the distance between two members.", arity=-4,
    flags="readonly", keys=[one("RO ACCESS")], since="3.2.0",
)  # fmt: skip
def geodist(ctx: Context, argv: list[bytes]) -> Reply:
    """The distance with four decimals, or null. O(1). Redis: GEODIST."""
    unit = _unit(argv[4]) if len(argv) == 5 else 1.0
    if len(argv) > 5:
        raise CommandError(SYNTAX)
    zset = zset_of(ctx.db.read(argv[1]))
    if zset is None:
        return None
    first = zset.score(argv[2])
    second = zset.score(argv[3])
    if first is None or second is None:
        return None
    longitude1, latitude1 = decode(first)
    longitude2, latitude2 = decode(second)
    return _distance_text(distance(longitude1, latitude1, longitude2, latitude2) / unit)


def _unit(word: bytes) -> float:
    """Metres in a unit."""
    metres = UNITS.get(word.lower())
    if metres is None:
        raise CommandError(b"ERR unsupported unit provided. please use M, KM, FT, MI")
    return metres


def _distance_text(value: float) -> bytes:
    if value != value:
        return b"-922337203685477.5808"  # the integer that C makes of NaN
    return format_fixed(value, 4)


# -- searching -----------------------------------------------------------------------------------


@final
class GeoQuery:
    """A search: where, and what to do with what is found. `zset` is None where there is no key."""

    __slots__ = (
        "zset", "abilities", "from_member", "from_place", "longitude", "latitude", "by_radius", "by_box", "width",
        "height", "unit", "with_distance", "with_hash", "with_coordinates", "any", "count", "sort", "store_key",
        "store_distance",
    )  # fmt: skip

    def __init__(self, zset: SortedSet | None, abilities: int) -> None:
        self.zset: SortedSet | None = zset
        self.abilities: int = abilities
        self.from_member: bool = False
        self.from_place: bool = False
        self.longitude: float = 0.0
        self.latitude: float = 0.0
        self.by_radius: bool = False
        self.by_box: bool = False
        #: In units; `width` is the radius of a circle.
        self.width: float = 0.0
        self.height: float = 0.0
        #: Metres in a unit.
        self.unit: float = 1.0
        self.with_distance: bool = False
        self.with_hash: bool = False
        self.with_coordinates: bool = False
        #: With a count: the first that are found will do.
        self.any: bool = False
        #: How many at most, 0 for all.
        self.count: int = 0
        self.sort: int = _UNSORTED
        self.store_key: bytes | None = None
        self.store_distance: bool = False

    # Where

    def set_member(self, member: bytes) -> None:
        """Search around a member. Where there is no set at all, that is found out later."""
        self.from_member = True
        if self.zset is not None:
            score = self.zset.score(member)
            if score is None:
                raise CommandError(b"ERR could not decode requested zset member")
            self.longitude, self.latitude = decode(score)

    def set_place(self, argv: list[bytes], at: int) -> None:
        """Search around the longitude and latitude that stand at `at`."""
        self.from_place = True
        self.longitude, self.latitude = _place(argv, at)

    def set_radius(self, argv: list[bytes], at: int) -> None:
        """Search a circle: radius and unit stand at `at`."""
        self.by_radius = True
        self.width = double(argv[at], b"ERR need numeric radius")
        if self.width < 0:
            raise CommandError(b"ERR radius cannot be negative")
        self.unit = _unit(argv[at + 1])

    def set_box(self, argv: list[bytes], at: int) -> None:
        """Search a box: width, height and unit stand at `at`."""
        self.by_box = True
        self.width = double(argv[at], b"ERR need numeric width")
        self.height = double(argv[at + 1], b"ERR need numeric height")
        if self.width < 0 or self.height < 0:
            raise CommandError(b"ERR height or width cannot be negative")
        self.unit = _unit(argv[at + 2])

    def shape(self) -> Shape:
        """What to search."""
        if self.by_box:
            return box(self.longitude, self.latitude, self.width, self.height, self.unit)
        return circle(self.longitude, self.latitude, self.width, self.unit)

    # The options

    def parse(self, argv: list[bytes], at: int) -> None:
        """Read the options from `at` on, and check that they go together. O(arguments)."""
        end = len(argv)
        while at < end:
            word = argv[at].upper()
            if self._take_word(word):
                at += 1
                continue
            used = self._take_value(argv, at, word)
            if used == 0 and self.abilities & _SHAPE_OPTIONS:
                used = self._take_shape(argv, at, word)
            if used == 0:
                raise CommandError(SYNTAX)
            at += 1 + used
        self._check(argv[0])

    def _take_word(self, word: bytes) -> bool:
        """An option without a value; whether `word` is one."""
        if word == b"WITHDIST":
            self.with_distance = True
        elif word == b"WITHHASH":
            self.with_hash = True
        elif word == b"WITHCOORD":
            self.with_coordinates = True
        elif word == b"ANY":
            self.any = True
        elif word == b"ASC":
            self.sort = _NEAREST
        elif word == b"DESC":
            self.sort = _FARTHEST
        elif word == b"STOREDIST" and self.abilities & _TO_KEY:
            self.store_distance = True
        else:
            return False
        return True

    def _take_value(self, argv: list[bytes], at: int, word: bytes) -> int:
        """An option with one value; how many arguments follow the word, 0 if it is no such option."""
        if at + 1 == len(argv):
            return 0
        if word == b"COUNT":
            self.count = integer(argv[at + 1])
            if self.count <= 0:
                raise CommandError(b"ERR COUNT must be > 0")
            return 1
        if self.abilities & _STORE_OPTIONS and (word == b"STORE" or word == b"STOREDIST"):
            self.store_key = argv[at + 1]
            self.store_distance = word == b"STOREDIST"
            return 1
        return 0

    def _take_shape(self, argv: list[bytes], at: int, word: bytes) -> int:
        """A centre or a shape; how many arguments follow the word, 0 if it is neither."""
        left = len(argv) - at - 1
        if word == b"FROMMEMBER" and left >= 1 and not self.from_place:
            self.set_member(argv[at + 1])
            return 1
        if word == b"FROMLONLAT" and left >= 2 and not self.from_member:
            self.set_place(argv, at + 1)
            return 2
        if word == b"BYRADIUS" and left >= 2 and not self.by_box:
            self.set_radius(argv, at + 1)
            return 2
        if word == b"BYBOX" and left >= 3 and not self.by_radius:
            self.set_box(argv, at + 1)
            return 3
        return 0

    def _check(self, name: bytes) -> None:
        if self.store_key is not None and (self.with_distance or self.with_hash or self.with_coordinates):
            what = b"GEOSEARCHSTORE" if self.abilities & _TO_KEY else b"STORE option in GEORADIUS"
            raise CommandError(b"ERR " + what + b" is not compatible with WITHDIST, WITHHASH and WITHCOORD options")
        if self.abilities & _SHAPE_OPTIONS:
            if not (self.from_member or self.from_place):
                raise CommandError(b"ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name)
            if not (self.by_radius or self.by_box):
                raise CommandError(b"ERR exactly one of BYRADIUS and BYBOX can be specified for " + name)
        if self.any and self.count == 0:
            raise CommandError(b"ERR the ANY argument requires COUNT argument")

    # The answer

    def find(self) -> list[Point]:
        """The points, in the order and number that are wanted."""
        if self.zset is None:
            return []
        found = search(self.zset, self.shape(), self.count if self.any else 0)
        if self.sort == _FARTHEST:
            found.sort(key=_by_distance, reverse=True)
        elif self.sort == _NEAREST or (self.count and not self.any):
            found.sort(key=_by_distance)
        return found[: self.count] if self.count else found

    def describe(self, point: Point) -> list[Reply]:
        """A point with all that is wanted of it."""
        item: list[Reply] = [point.member]
        if self.with_distance:
            item.append(_distance_text(point.distance / self.unit))
        if self.with_hash:
            item.append(int(point.score) if abs(point.score) < 2.0**63 else INT64_MIN)
        if self.with_coordinates:
            item.append(_coordinates(point.longitude, point.latitude))
        return item


def _answer(ctx: Context, query: GeoQuery) -> Reply:
    found = query.find()
    if query.store_key is not None:
        scores: dict[bytes, float] = {}
        for point in found:
            scores[point.member] = point.distance / query.unit if query.store_distance else point.score
        event = b"geosearchstore" if query.abilities & _TO_KEY else b"georadiusstore"
        return store_members(ctx, query.store_key, scores, event, True)
    if query.with_distance or query.with_hash or query.with_coordinates:
        return [query.describe(point) for point in found]
    return Bulks([point.member for point in found]) if found else EMPTY


@geo.command(
    "geosearch", f"key {_SHAPE} [WITHCOORD] [WITHDIST] [WITHHASH]", "Returns the members within a circle or a box.",
    arity=-7, flags="readonly", keys=[one("RO ACCESS")], since="6.2.0", complexity=_SEARCH,
)  # fmt: skip
def geosearch(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with details. O(log n + points in the cells searched). Redis: GEOSEARCH."""
    query = GeoQuery(zset_of(ctx.db.read(argv[1])), _SHAPE_OPTIONS)
    query.parse(argv, 2)
    return _answer(ctx, query)


@geo.command(
    "geosearchstore", f"destination source {_SHAPE} [STOREDIST]", "Stores the members within a circle or a box.",
    arity=-8, flags="write denyoom", keys=[one("OW UPDATE"), one("RO ACCESS", 2)], since="6.2.0", complexity=_SEARCH,
)  # fmt: skip
def geosearchstore(ctx: Context, argv: list[bytes]) -> Reply:
    """How many were stored. O(log n + points in the cells searched). Redis: GEOSEARCHSTORE."""
    query = GeoQuery(zset_of(ctx.db.read(argv[2])), _SHAPE_OPTIONS | _TO_KEY)
    query.store_key = argv[1]
    query.parse(argv, 3)
    return _answer(ctx, query)


@geo.command(
    "georadius", f"key longitude latitude radius <M | KM | FT | MI> {_RADIUS_OPTIONS} {_STORING}",
    "Returns or stores the members within a circle around a place.", arity=-6, flags="write denyoom movablekeys",
    keys=[one("RO ACCESS"), after("OW UPDATE", b"STORE", 6), after("OW UPDATE", b"STOREDIST", 6)], since="3.2.0",
    complexity=_RADIUS, deprecated="6.2.0",
    replaced_by="`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument",
)  # fmt: skip
def georadius(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or how many were stored. O(log n + points in the cells searched). Redis: GEORADIUS."""
    return _around_place(ctx, argv, _STORE_OPTIONS)


@geo.command(
    "georadius_ro", f"key longitude latitude radius <M | KM | FT | MI> {_RADIUS_OPTIONS}",
    "Returns the members within a circle around a place.", arity=-6, flags="readonly", keys=[one("RO ACCESS")],
    since="3.2.10", complexity=_RADIUS, deprecated="6.2.0", replaced_by="`GEOSEARCH` with the `BYRADIUS` argument",
)  # fmt: skip
def georadius_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with details. O(log n + points in the cells searched). Redis: GEORADIUS_RO."""
    return _around_place(ctx, argv, _PLAIN)


def _around_place(ctx: Context, argv: list[bytes], abilities: int) -> Reply:
    query = GeoQuery(zset_of(ctx.db.read(argv[1])), abilities)
    query.set_place(argv, 2)
    query.set_radius(argv, 4)
    query.parse(argv, 6)
    return _answer(ctx, query)


@geo.command(
    "georadiusbymember", f"key member radius <M | KM | FT | MI> {_RADIUS_OPTIONS} {_STORING}",
    "Returns or stores the members within a circle around a member.", arity=-5, flags="write denyoom movablekeys",
    keys=[one("RO ACCESS"), after("OW UPDATE", b"STORE", 5), after("OW UPDATE", b"STOREDIST", 5)], since="3.2.0",
    complexity=_RADIUS, deprecated="6.2.0",
    replaced_by="`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
)  # fmt: skip
def georadiusbymember(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or how many were stored. O(log n + points in the cells searched). Redis: GEORADIUSBYMEMBER."""
    return _around_member(ctx, argv, _STORE_OPTIONS)


@geo.command(
    "georadiusbymember_ro", f"key member radius <M | KM | FT | MI> {_RADIUS_OPTIONS}",
    "Returns the members within a circle around a member.", arity=-5, flags="readonly", keys=[one("RO ACCESS")],
    since="3.2.10", complexity=_RADIUS, deprecated="6.2.0",
    replaced_by="`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments",
)  # fmt: skip
def georadiusbymember_ro(ctx: Context, argv: list[bytes]) -> Reply:
    """Members, or members with details. O(log n + points in the cells searched). Redis: GEORADIUSBYMEMBER_RO."""
    return _around_member(ctx, argv, _PLAIN)


def _around_member(ctx: Context, argv: list[bytes], abilities: int) -> Reply:
    query = GeoQuery(zset_of(ctx.db.read(argv[1])), abilities)
    query.set_member(argv[2])
    if query.zset is not None:
        query.set_radius(argv, 3)
    query.parse(argv, 5)
    return _answer(ctx, query)
