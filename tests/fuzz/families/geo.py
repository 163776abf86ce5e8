"""Places within sorted sets."""

LINES = """
GEOADD key (place)...
GEOADD key {NX|XX|CH|GT} place...
GEOADD key (longitude latitude member)...
GEOPOS key member...
GEOPOS key
GEOHASH key member...
GEODIST key member member [unit]
GEOSEARCH key center shape {ASC|DESC|COUNT count|COUNT count ANY|WITHCOORD|WITHDIST|WITHHASH}
GEOSEARCH key center shape ASC {WITHCOORD|WITHDIST|WITHHASH|COUNT count}
GEOSEARCH key {center|shape|ASC|DESC|COUNT count ANY|WITHDIST}
GEOSEARCHSTORE key key center shape {ASC|DESC|COUNT count|STOREDIST}
GEORADIUS key longitude latitude radius unit {ASC|DESC|COUNT count|WITHCOORD|WITHDIST|WITHHASH|STORE key|STOREDIST key|COUNT count ANY}
GEORADIUS_RO key longitude latitude radius unit {ASC|DESC|COUNT count|WITHCOORD|WITHDIST|WITHHASH}
GEORADIUSBYMEMBER key member radius unit {ASC|DESC|COUNT count|WITHCOORD|WITHDIST|WITHHASH|STORE key|STOREDIST key}
GEORADIUSBYMEMBER_RO key member radius unit {ASC|DESC|COUNT count|WITHCOORD|WITHDIST|WITHHASH}
ZRANGE key 0 -1 WITHSCORES
ZADD key (score member)...
ZREM key member...
ZSCORE key member
"""

WORDS = {
    "key": "a|b|a|b|c",
    "member": r'palermo|catania|x|y|z|""|north|south|paris',
    "place": "13.361389 38.115556 palermo|15.087269 37.502669 catania|2.3522 48.8566 paris|0 0 x|-179.9 10 y|179.9 10 z"
    "|0 85.05112878 north|0 -85.05112878 south|13.5 38 x|15 37.6 y|14 37.9 z",
    "longitude": "13.361389|15|0|-180|180|179.99|-179.99|14.2|180.1|2.35|1e2|nan",
    "latitude": "38.115556|37|0|85.05112878|-85.05112878|85.06|48.85|10|-5e0|inf",
    "radius": "100|200|1|0|1000000|5000|-1|0.5|20000000|abc|1e3|inf|nan",
    "unit": "km|m|ft|mi|KM|yards",
    "center": "FROMMEMBER member|FROMLONLAT longitude latitude",
    "shape": "BYRADIUS radius unit|BYBOX radius radius unit",
}
