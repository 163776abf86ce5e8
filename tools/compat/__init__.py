"""Redis' own Tcl suite against Redouble: `make compat`, `make compat-check`.

The suite comes from Debian's source package of redis, in the version of Debian's redis-server (`source`).
It runs against an external server, unit by unit, each with a fresh Redouble (`harness`, `servers`). The
suite gives up a whole unit at the first surprise; `overlay.tcl`, read by a copy of its helper, keeps a
failure or a hang to the test it belongs to, and touches no test. What comes out is compared with two files
kept here, `passing.txt` (a test in it may not be lost) and `reasons.toml` (why a test is not passed), and
is written to `docs/compatibility.md` (`report`). Nothing of the suite is kept in the repository.
"""
