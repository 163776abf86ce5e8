"""Places: GEOADD, GEOPOS, GEODIST, GEOHASH, GEOSEARCH and the older GEORADIUS."""

import pytest

from tests.commands.keyevents import Listener
from tests.kit import Failure, Redis

WRONGTYPE = Failure("WRONGTYPE Operation against a key holding the wrong kind of value")
SYNTAX = Failure("ERR syntax error")


@pytest.fixture
def sicily(redis: Redis) -> Redis:
    redis("GEOADD", "Sicily", 13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")
    redis("GEOADD", "Sicily", 12.758489, 38.788135, "edge1", 17.241510, 38.788135, "edge2")
    return redis


def test_a_place_is_a_score_of_52_bits(sicily: Redis) -> None:
    assert sicily("ZSCORE", "Sicily", "Palermo") == b"3479099956230698"
    assert sicily("ZRANGE", "Sicily", 0, -1) == [b"Palermo", b"edge1", b"Catania", b"edge2"]
    assert sicily("GEOHASH", "Sicily", "Palermo", "x", "Catania") == [b"sqc8b49rny0", None, b"sqdtr74hyu0"]


def test_geoadd_takes_some_of_zadds_options(redis: Redis) -> None:
    assert redis("GEOADD", "g", "XX", 1, 2, "a") == 0
    assert redis("GEOADD", "g", "nx", "CH", 1, 2, "a", 3, 4, "b") == 2
    assert redis("GEOADD", "g", "CH", 1, 3, "a", 3, 4, "b") == 1
    assert redis("GEOADD", "g", "NX", "XX", 1, 2, "a") == SYNTAX
    assert redis("GEOADD", "g", 1, 2, "a", 3) == SYNTAX
    assert redis("GEOADD", "g", "GT", 2, "a") == Failure("ERR value is not a valid float")


def test_coordinates_outside_the_map_are_refused(redis: Redis) -> None:
    for longitude, latitude in ((181, 0), (0, 86), (-180.1, 0), (0, -85.06)):
        assert redis("GEOADD", "g", 1, 1, "ok", longitude, latitude, "a") == Failure(
            f"ERR invalid longitude,latitude pair {longitude:.6f},{latitude:.6f}"
        )
    assert redis("EXISTS", "g") == 0
    assert redis("GEOADD", "g", 180, 85.05112878, "corner", -180, -85.05112878, "other") == 2
    assert redis("GEOADD", "g", 1, "x", "a") == Failure("ERR value is not a valid float")


def test_positions_are_the_centres_of_the_smallest_cells(sicily: Redis) -> None:
    assert sicily("GEOPOS", "Sicily", "Palermo", "x") == [[b"13.36138933897018433", b"38.11555639549629859"], None]
    assert sicily("GEOPOS", "missing", "a") == [None]
    assert sicily("GEOPOS", "missing") == []
    null = b"_\r\n" if sicily.resp == 3 else b"*-1\r\n"
    assert sicily.raw("GEOPOS", "Sicily", "x") == b"*1\r\n" + null
    if sicily.resp == 3:
        assert sicily.raw("GEOPOS", "Sicily", "Palermo") == (
            b"*1\r\n*2\r\n,13.36138933897018433\r\n,38.11555639549629859\r\n"
        )


def test_distances_have_four_decimals(sicily: Redis) -> None:
    assert sicily("GEODIST", "Sicily", "Palermo", "Catania") == b"166274.1516"
    assert sicily("GEODIST", "Sicily", "Palermo", "Catania", "KM") == b"166.2742"
    assert sicily("GEODIST", "Sicily", "Palermo", "Catania", "mi") == b"103.3182"
    assert sicily("GEODIST", "Sicily", "Palermo", "Palermo") == b"0.0000"
    assert sicily("GEODIST", "Sicily", "Palermo", "x") is None
    assert sicily("GEODIST", "missing", "Palermo", "x") is None
    unit = Failure("ERR unsupported unit provided. please use M, KM, FT, MI")
    assert sicily("GEODIST", "Sicily", "Palermo", "Catania", "yards") == unit
    assert sicily("GEODIST", "Sicily", "Palermo", "Catania", "yards", "x") == SYNTAX


def test_a_circle_is_searched_around_a_place_or_a_member(sicily: Redis) -> None:
    assert sicily("GEOSEARCH", "Sicily", "FROMLONLAT", 15, 37, "BYRADIUS", 200, "km", "ASC") == [
        b"Catania", b"Palermo"
    ]  # fmt: skip
    assert sicily("GEOSEARCH", "Sicily", "BYRADIUS", 0, "m", "FROMMEMBER", "Palermo") == [b"Palermo"]
    assert sicily("GEORADIUS", "Sicily", 15, 37, 200, "km", "DESC") == [b"Palermo", b"Catania"]
    assert sicily("GEORADIUSBYMEMBER_RO", "Sicily", "Palermo", 200, "km", "DESC") == [b"Catania", b"edge1", b"Palermo"]


def test_a_box_is_searched_by_its_whole_sides(sicily: Redis) -> None:
    assert sicily("GEOSEARCH", "Sicily", "FROMLONLAT", 15, 37, "BYBOX", 400, 400, "km", "ASC") == [
        b"Catania", b"Palermo", b"edge2", b"edge1"
    ]  # fmt: skip
    assert sicily("GEOSEARCH", "Sicily", "FROMLONLAT", 15, 37, "BYBOX", 400, 100, "km") == []


def test_details_come_in_a_fixed_order(sicily: Redis) -> None:
    assert sicily("GEORADIUS", "Sicily", 15, 37, 200, "km", "WITHCOORD", "WITHHASH", "WITHDIST", "ASC") == [
        [b"Catania", b"56.4413", 3479447370796909, [b"15.08726745843887329", b"37.50266842333162032"]],
        [b"Palermo", b"190.4424", 3479099956230698, [b"13.36138933897018433", b"38.11555639549629859"]],
    ]


def test_a_count_means_the_nearest_unless_any_will_do(sicily: Redis) -> None:
    circle = ("GEOSEARCH", "Sicily", "FROMLONLAT", 15, 37, "BYRADIUS", 1000, "km")
    assert sicily(*circle, "COUNT", 1) == [b"Catania"]
    assert sicily(*circle, "COUNT", 1, "DESC") == [b"edge1"]
    assert len(sicily(*circle, "COUNT", 3, "ANY")) == 3
    assert sicily(*circle, "ANY") == Failure("ERR the ANY argument requires COUNT argument")
    assert sicily(*circle, "COUNT", 0) == Failure("ERR COUNT must be > 0")


def test_a_search_may_span_the_date_line(redis: Redis) -> None:
    redis("GEOADD", "g", 179.9, 0, "west", -179.9, 0, "east")
    assert redis("GEOSEARCH", "g", "FROMLONLAT", -179.95, 0, "BYRADIUS", 30, "km", "ASC") == [b"east", b"west"]


def test_results_can_be_stored_with_places_or_distances(sicily: Redis) -> None:
    assert sicily("GEOSEARCHSTORE", "dst", "Sicily", "FROMLONLAT", 15, 37, "BYRADIUS", 200, "km") == 2
    assert sicily("ZSCORE", "dst", "Palermo") == b"3479099956230698"
    assert sicily("GEOSEARCHSTORE", "dst", "Sicily", "FROMMEMBER", "Palermo", "BYRADIUS", 0, "km", "STOREDIST") == 1
    assert sicily("ZSCORE", "dst", "Palermo") == b"0"
    assert sicily("GEORADIUS", "Sicily", 15, 37, 200, "km", "STOREDIST", "dst", "COUNT", 1) == 1
    assert sicily("ZRANGE", "dst", 0, -1) == [b"Catania"]
    assert sicily("GEORADIUSBYMEMBER", "missing", "x", 1, "km", "STORE", "dst") == 0
    assert sicily("EXISTS", "dst") == 0


def test_stored_results_are_announced(sicily: Redis) -> None:
    listener = Listener(sicily)
    sicily("GEOADD", "g", 1, 1, "a")
    sicily("GEOSEARCHSTORE", "d", "g", "FROMMEMBER", "a", "BYRADIUS", 1, "km")
    sicily("GEORADIUS", "g", 1, 1, 1, "km", "STORE", "d")
    sicily("GEORADIUS", "g", 9, 9, 1, "km", "STORE", "d")
    assert listener.heard(4) == ["zadd g", "geosearchstore d", "georadiusstore d", "del d"]
    assert listener.silent()


def test_bad_searches_are_refused(sicily: Redis) -> None:
    search = ("geosearch", "Sicily", "FROMMEMBER", "Palermo")
    place = "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for geosearch"
    shape = "ERR exactly one of BYRADIUS and BYBOX can be specified for geosearch"
    assert sicily("geosearch", "Sicily", "BYRADIUS", 1, "km", "ASC", "WITHDIST") == Failure(place)
    assert sicily(*search, "ASC", "WITHDIST", "WITHHASH") == Failure(shape)
    assert sicily(*search, "FROMLONLAT", 1, 1, "BYRADIUS", 1, "km") == SYNTAX
    assert sicily(*search, "BYBOX", 1, 1, "km", "BYRADIUS", 1, "km") == SYNTAX
    assert sicily(*search, "BYRADIUS", -1, "km") == Failure("ERR radius cannot be negative")
    assert sicily(*search, "BYRADIUS", "x", "km") == Failure("ERR need numeric radius")
    assert sicily(*search, "BYBOX", 1, "x", "km") == Failure("ERR need numeric height")
    assert sicily(*search, "BYBOX", -1, 1, "km") == Failure("ERR height or width cannot be negative")
    assert sicily(*search, "BYRADIUS", 1, "km", "STOREDIST") == SYNTAX
    assert sicily("GEORADIUS_RO", "Sicily", 1, 1, 1, "km", "STORE", "d") == SYNTAX
    assert sicily("GEORADIUS", "Sicily", 1, 1, 1, "km", "STORE", "d", "WITHDIST") == Failure(
        "ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
    )
    assert sicily("GEOSEARCH", "Sicily", "FROMMEMBER", "x", "BYRADIUS", 1, "km") == Failure(
        "ERR could not decode requested zset member"
    )


def test_the_key_comes_before_the_arguments(redis: Redis) -> None:
    redis("SET", "s", "x")
    assert redis("GEORADIUS", "s", 1, 1, 1, "yards") == WRONGTYPE
    assert redis("GEOSEARCH", "s", "FROMMEMBER", "a", "BYRADIUS", 1, "yards") == WRONGTYPE
    assert redis("GEOPOS", "s", "a") == redis("GEOHASH", "s") == redis("GEODIST", "s", "a", "b") == WRONGTYPE
    assert redis("GEOSEARCH", "missing", "FROMMEMBER", "a", "BYRADIUS", 1, "km") == []
    assert redis("GEORADIUSBYMEMBER", "missing", "a", 1, "yards") == []
