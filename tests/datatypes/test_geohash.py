"""Geohashes and searches against a real server: its replies, to the last digit and in its order."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redouble.datatypes.geohash import (
    LATITUDE_LIMIT,
    UNITS,
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
from redouble.datatypes.limits import Limits
from redouble.datatypes.sortedset import SortedSet
from redouble.doubles import format_double, format_fixed, format_human

longitudes = st.floats(-180, 179.9999)
latitudes = st.floats(-LATITUDE_LIMIT, 85.0511)

CORNERS = [(lon, lat) for lon in (-180.0, 0.0, 180.0) for lat in (-LATITUDE_LIMIT, 0.0, LATITUDE_LIMIT)]


def places_near(rng: random.Random, count: int, spread: float) -> dict[bytes, tuple[float, float]]:
    """Places around a random one, and some all over the world."""
    lon, lat = rng.uniform(-180, 180), rng.uniform(-85, 85)
    places = {}
    for number in range(count):
        if number % 7 == 0:
            place = rng.uniform(-180, 180), rng.uniform(-85, 85)
        else:
            place = rng.gauss(lon, spread), rng.gauss(lat, spread / 2)
        if is_place(*place):
            places[b"p%d" % number] = place
    return places


def stored(real_redis, places: dict[bytes, tuple[float, float]]) -> SortedSet:
    """The same places here and on the server."""
    subject = SortedSet(Limits())
    real_redis.ask("DEL", "g")
    for member, (lon, lat) in places.items():
        real_redis.ask("GEOADD", "g", repr(lon), repr(lat), member)
        subject.add(member, float(encode(lon, lat)))
    return subject


def points_of(real_redis, shape_words: tuple, *options) -> list[tuple]:
    return [tuple(point) for point in real_redis.ask("GEOSEARCH", "g", *shape_words, *options, "WITHDIST")]


@given(longitudes, latitudes)
def test_a_place_comes_back_from_its_score_nearly_the_same(longitude, latitude):
    score = encode(longitude, latitude)
    assert 0 <= score < 1 << 52
    back = decode(float(score))
    assert abs(back[0] - longitude) <= 180.0001 / 2**26
    assert abs(back[1] - latitude) <= 85.0512 / 2**26
    assert encode(*back) == score


def test_scores_positions_texts_and_distances_are_the_servers(real_redis):
    places = places_near(random.Random(1), 300, 20)
    places |= {b"c%d" % number: corner for number, corner in enumerate(CORNERS)}
    subject = stored(real_redis, places)
    names = list(places)
    positions = real_redis.ask("GEOPOS", "g", *names)
    texts = real_redis.ask("GEOHASH", "g", *names)
    for index, name in enumerate(names):
        score = subject.scores[name]
        assert format_double(score, False) == real_redis.ask("ZSCORE", "g", name)
        assert [format_human(part) for part in decode(score)] == positions[index]
        assert geohash_text(score) == texts[index]
        other = names[index * 7 % len(names)]
        for unit, metres in UNITS.items():
            far = distance(*decode(score), *decode(subject.scores[other])) / metres
            assert format_fixed(far, 4) == real_redis.ask("GEODIST", "g", name, other, unit)


@pytest.mark.parametrize("score", [-1.0, -0.0, 0.5, -5e15, 2.0**53 + 2, 2.0**62, 2.0**63, 1e300, -1e300, math.inf])
def test_scores_that_are_no_geohash_decode_as_on_the_server(real_redis, score):
    real_redis.ask("DEL", "g")
    real_redis.ask("ZADD", "g", repr(score), "m")
    assert [format_human(part) for part in decode(score)] == real_redis.ask("GEOPOS", "g", "m")[0]
    assert geohash_text(score) == real_redis.ask("GEOHASH", "g", "m")[0]


@pytest.mark.parametrize("seed", range(12))
def test_searches_find_the_same_points_in_the_same_order(real_redis, seed):
    rng = random.Random(seed)
    places = places_near(rng, 150, rng.choice([0.01, 1.0, 10.0, 60.0]))
    subject = stored(real_redis, places)
    for _ in range(60):
        lon, lat = rng.choice([*places.values(), *CORNERS, (rng.uniform(-180, 180), rng.uniform(-85, 85))])
        unit = rng.choice(sorted(UNITS))
        near = 10 ** rng.uniform(0, 7.5) / UNITS[unit]
        far = 10 ** rng.uniform(0, 7.5) / UNITS[unit]
        centre = ("FROMLONLAT", repr(lon), repr(lat))
        for words, shape in (
            (("BYRADIUS", repr(near), unit), circle(lon, lat, near, UNITS[unit])),
            (("BYBOX", repr(near), repr(far), unit), box(lon, lat, near, far, UNITS[unit])),
        ):
            assert as_replies(search(subject, shape), UNITS[unit]) == points_of(real_redis, centre + words)
            limit = rng.randrange(1, 40)
            assert as_replies(search(subject, shape, limit), UNITS[unit]) == points_of(
                real_redis, centre + words, "COUNT", limit, "ANY"
            )


def as_replies(points: list, unit: float) -> list[tuple]:
    return [(point.member, format_fixed(point.distance / unit, 4)) for point in points]


@pytest.mark.parametrize("radius", ["0", "inf", "1e300", "5e-324", "20037726.36", "20037726.38", "1e7"])
def test_extreme_radii_are_searched_as_on_the_server(real_redis, radius):
    subject = stored(real_redis, places_near(random.Random(3), 100, 30))
    for lon, lat in [*CORNERS, (1.5, 66.5), (-70.0, -80.5), (12.0, 84.9)]:
        words = ("FROMLONLAT", repr(lon), repr(lat), "BYRADIUS", radius, "m")
        found = search(subject, circle(lon, lat, float(radius), 1.0))
        assert as_replies(found, 1.0) == points_of(real_redis, words)


def test_a_limited_search_stops_early():
    subject = SortedSet(Limits())
    for number in range(5000):
        subject.add(b"%d" % number, float(encode(number / 5000, 0.0)))
    everywhere = Shape(0.0, 0.0, 1e7)
    assert len(search(subject, everywhere)) == 5000
    assert [point.member for point in search(subject, everywhere, 3)] == [b"0", b"1", b"2"]
