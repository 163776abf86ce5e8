"""Places on earth as scores of a sorted set, and the search among them.

How it works
------------
A geohash halves the earth again and again, by longitude and by latitude in turn, and writes down one
bit for each decision. Redis takes 26 steps of both: 52 bits, which a double holds exactly, and that
is the score. Points in one cell share a prefix, so a cell of fewer steps is a range of scores.

A search picks the step at which cells are about as large as the shape to search, takes the cell of
its centre and the eight around it, leaves out those which the shape's bounding box can't touch, and
tests each point in their ranges by its distance on a sphere (R. W. Sinnott, "Virtues of the
Haversine", 1984). Which cells, and in what order, shows in the reply where the client asks for no
sorting, and so do the formulas' last bits where a point lies on the rim. So both follow Redis: cells
in the order centre, N, S, E, W, NE, NW, SE, SW, the points of a cell by score, and each formula with
its operations in the same order.

Odd corners, kept on purpose
----------------------------
- Latitudes end at +-85.05112878, as in Web Mercator. The GEOHASH string is re-encoded for +-90 and
  has only 50 bits of meaning; its eleventh letter is always `0`.
- At the step of one there are four cells in all, and neighbours coincide; one which equals the last
  neighbour searched is skipped.
- The eastern and northern limits themselves give a carry beyond the 26 bits.
- Any sorted set may be asked; scores that are no geohash decode to some place or other.
- An infinite radius is legal. C answers NaN for its cosine, and comparisons with NaN are false.
"""

from math import asin, cos, isinf, nan, pi, sin, sqrt
from typing import Final, final

from redouble.datatypes.ranges import ScoreRange
from redouble.datatypes.sortedset import SortedSet

LONGITUDE_LIMIT: Final = 180.0
LATITUDE_LIMIT: Final = 85.05112878
STEPS: Final = 26
EARTH_RADIUS: Final = 6372797.560856  # metres
MERCATOR_MAX: Final = 20037726.37  # metres: half of the equator in Web Mercator
RADIAN: Final = pi / 180.0
WORD: Final = 0xFFFFFFFFFFFFFFFF
HALF_WORD: Final = 0xFFFFFFFF
LETTERS: Final = b"0123456789bcdefghjkmnpqrstuvwxyz"
#: Points fetched at a time, so that a search that may stop early does not fetch a continent.
BATCH: Final = 1024
#: Metres in each unit a client may name (in lower case).
UNITS: Final[dict[bytes, float]] = {b"m": 1.0, b"km": 1000.0, b"ft": 0.3048, b"mi": 1609.34}
#: Where the cells to search lie from the centre's, east and north, in the order of the search.
DIRECTIONS: Final = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1))


def is_place(longitude: float, latitude: float) -> bool:
    """Whether the place can be encoded."""
    return abs(longitude) <= LONGITUDE_LIMIT and abs(latitude) <= LATITUDE_LIMIT


def encode(longitude: float, latitude: float) -> int:
    """The score of a place: 52 bits (one more at the eastern and northern limits)."""
    x = _cell(longitude, LONGITUDE_LIMIT, STEPS)
    return _interleave(_cell(latitude, LATITUDE_LIMIT, STEPS), x)


def decode(score: float) -> tuple[float, float]:
    """Longitude and latitude of the centre of the smallest cell with this score."""
    bits = _as_word(score)
    x = _squeeze(bits >> 1)
    y = _squeeze(bits)
    longitude = (_edge(x, LONGITUDE_LIMIT, STEPS) + _edge(x + 1, LONGITUDE_LIMIT, STEPS)) / 2
    latitude = (_edge(y, LATITUDE_LIMIT, STEPS) + _edge(y + 1, LATITUDE_LIMIT, STEPS)) / 2
    return (
        max(min(longitude, LONGITUDE_LIMIT), -LONGITUDE_LIMIT),
        max(min(latitude, LATITUDE_LIMIT), -LATITUDE_LIMIT),
    )


def _as_word(score: float) -> int:
    """The score as C on x86-64 converts it to 64 bits; only scores that are no geohash need this."""
    if score >= 2.0**64:
        return 0
    return int(score) & WORD if score >= -(2.0**63) else 1 << 63


def geohash_text(score: float) -> bytes:
    """The standard geohash of a place, in eleven letters."""
    longitude, latitude = decode(score)
    bits = _interleave(_cell(latitude, 90.0, STEPS), _cell(longitude, LONGITUDE_LIMIT, STEPS))
    return bytes([LETTERS[bits >> shift & 31] for shift in range(47, 1, -5)]) + b"0"


def distance(longitude1: float, latitude1: float, longitude2: float, latitude2: float) -> float:
    """Metres between two places, along the great circle."""
    v = sin((longitude2 * RADIAN - longitude1 * RADIAN) / 2)
    if v == 0.0:
        return _latitude_distance(latitude1, latitude2)
    radians1 = latitude1 * RADIAN
    radians2 = latitude2 * RADIAN
    u = sin((radians2 - radians1) / 2)
    a = u * u + cos(radians1) * cos(radians2) * v * v
    return 2.0 * EARTH_RADIUS * asin(sqrt(a)) if a <= 1.0 else nan


def _latitude_distance(latitude1: float, latitude2: float) -> float:
    return EARTH_RADIUS * abs(latitude2 * RADIAN - latitude1 * RADIAN)


def _cell(coordinate: float, limit: float, steps: int) -> int:
    """The number of the cell, among 2**steps between minus and plus the limit."""
    return int((coordinate + limit) / (limit + limit) * (1 << steps))


def _edge(cell: int, limit: float, steps: int) -> float:
    """The lower edge of a cell."""
    return -limit + (cell & HALF_WORD) / (1 << steps) * (limit + limit)


def _interleave(even: int, odd: int) -> int:
    return _spread(even) | _spread(odd) << 1


def _spread(bits: int) -> int:
    """Move 32 bits to the even places of 64, by halves, quarters and so on."""
    bits = (bits | bits << 16) & 0x0000FFFF0000FFFF
    bits = (bits | bits << 8) & 0x00FF00FF00FF00FF
    bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | bits << 2) & 0x3333333333333333
    return (bits | bits << 1) & 0x5555555555555555


def _squeeze(bits: int) -> int:
    """Collect the bits at the even places; the reverse of `_spread`."""
    bits &= 0x5555555555555555
    bits = (bits | bits >> 1) & 0x3333333333333333
    bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF
    bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF
    return (bits | bits >> 16) & HALF_WORD


@final
class Shape:
    """A circle or a box to search, around a place. Sizes are in metres; a box has whole sides."""

    __slots__ = ("longitude", "latitude", "is_box", "radius", "width", "height")

    def __init__(
        self,
        longitude: float,
        latitude: float,
        radius: float,
        is_box: bool = False,
        width: float = 0.0,
        height: float = 0.0,
    ) -> None:
        self.longitude: float = longitude
        self.latitude: float = latitude
        self.is_box: bool = is_box
        #: From the centre to the rim; of a box, to its corners.
        self.radius: float = radius
        self.width: float = width
        self.height: float = height

    def distance_to(self, longitude: float, latitude: float) -> float:
        """Metres from the centre to a place within, or -1 if it is not within."""
        metres = distance(self.longitude, self.latitude, longitude, latitude)
        if not self.is_box:
            return -1.0 if metres > self.radius else metres
        if _latitude_distance(latitude, self.latitude) > self.height / 2:
            return -1.0
        if distance(longitude, latitude, self.longitude, latitude) > self.width / 2:
            return -1.0
        return metres

    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north, in degrees, as Redis estimates them."""
        height = self.height / 2 if self.is_box else self.radius
        width = self.width / 2 if self.is_box else self.radius
        up = height / EARTH_RADIUS / RADIAN
        # The edge nearer to the pole, where a degree of longitude is shortest.
        edge = self.latitude - up if self.latitude < 0 else self.latitude + up
        across = nan if isinf(edge) else width / EARTH_RADIUS / cos(edge * RADIAN) / RADIAN
        return (
            self.longitude - across,
            self.latitude - up,
            self.longitude + across,
            self.latitude + up,
        )

    def steps(self) -> int:
        """The number of steps whose cells are about as large as the shape."""
        if self.radius == 0:
            return STEPS
        steps = -1
        size = self.radius
        while size < MERCATOR_MAX:
            size *= 2
            steps += 1
        polar = abs(self.latitude)
        if polar > 66:
            steps -= 2 if polar > 80 else 1
        return max(1, min(steps, STEPS))


def circle(longitude: float, latitude: float, radius: float, unit: float) -> Shape:
    """A circle, its radius given in units of so many metres."""
    return Shape(longitude, latitude, radius * unit)


def box(longitude: float, latitude: float, width: float, height: float, unit: float) -> Shape:
    """A box that is so wide and so high in all, in units of so many metres."""
    corner = sqrt((width / 2) * (width / 2) + (height / 2) * (height / 2)) * unit
    return Shape(longitude, latitude, corner, True, width * unit, height * unit)


def cells_to_search(shape: Shape) -> list[ScoreRange]:
    """The ranges of scores of the cells which the shape may touch, in the order of the search."""
    west, south, east, north = shape.bounds()
    steps = shape.steps()
    if steps > 1 and not _reaches(shape, steps, west, south, east, north):
        steps -= 1
    x = _cell(shape.longitude, LONGITUDE_LIMIT, steps)
    y = _cell(shape.latitude, LATITUDE_LIMIT, steps)
    prune = steps >= 2
    no_west = prune and _edge(x, LONGITUDE_LIMIT, steps) < west
    no_east = prune and _edge(x + 1, LONGITUDE_LIMIT, steps) > east
    no_south = prune and _edge(y, LATITUDE_LIMIT, steps) < south
    no_north = prune and _edge(y + 1, LATITUDE_LIMIT, steps) > north
    shift = 2 * (STEPS - steps)
    found: list[ScoreRange] = []
    last = -1
    for right, up in DIRECTIONS:
        if (right < 0 and no_west) or (right > 0 and no_east):
            continue
        if (up < 0 and no_south) or (up > 0 and no_north):
            continue
        bits = _interleave(_moved(y, up, steps), _moved(x, right, steps))
        if bits != last:
            found.append(ScoreRange(float(bits << shift), False, float(bits + 1 << shift), True))
        if right or up:
            last = bits
    return found


def _moved(cell: int, by: int, steps: int) -> int:
    """The cell one further on, around the earth; one that stays keeps its carry."""
    return cell + by & (1 << steps) - 1 if by else cell


def _reaches(shape: Shape, steps: int, west: float, south: float, east: float, north: float) -> bool:
    """Whether the nine cells at this step cover the bounding box."""
    x = _cell(shape.longitude, LONGITUDE_LIMIT, steps)
    y = _cell(shape.latitude, LATITUDE_LIMIT, steps)
    return not (
        _edge(_moved(y, 1, steps) + 1, LATITUDE_LIMIT, steps) < north
        or _edge(_moved(y, -1, steps), LATITUDE_LIMIT, steps) > south
        or _edge(_moved(x, 1, steps) + 1, LONGITUDE_LIMIT, steps) < east
        or _edge(_moved(x, -1, steps), LONGITUDE_LIMIT, steps) > west
    )


@final
class Point:
    """A member found by a search; `distance` in metres."""

    __slots__ = ("member", "score", "longitude", "latitude", "distance")

    def __init__(self, member: bytes, score: float, longitude: float, latitude: float, distance: float) -> None:
        self.member: bytes = member
        self.score: float = score
        self.longitude: float = longitude
        self.latitude: float = latitude
        self.distance: float = distance


def search(places: SortedSet, shape: Shape, limit: int = 0) -> list[Point]:
    """The points within the shape, in the order in which Redis finds them.

    A positive `limit` ends the search with that many points, be they the nearest or not. O(log n)
    for each of up to nine cells, and the number of points in them.
    """
    found: list[Point] = []
    for scores in cells_to_search(shape):
        if 0 < limit <= len(found):
            break
        start, stop = places.span_by_score(scores)
        for begin in range(start, stop, BATCH):
            if _search_batch(places, shape, begin, min(begin + BATCH, stop), limit, found):
                return found
    return found


def _search_batch(places: SortedSet, shape: Shape, start: int, stop: int, limit: int, found: list[Point]) -> bool:
    """Add the points within the shape between two ranks; whether there are enough."""
    members, scores = places.fetch((start, stop))
    for index, score in enumerate(scores):
        longitude, latitude = decode(score)
        metres = shape.distance_to(longitude, latitude)
        if metres != -1.0:
            found.append(Point(members[index], score, longitude, latitude, metres))
            if len(found) == limit:
                return True
    return False
