"""Redouble beside redis-server, in one run. `make bench`, or `python -m benchmarks --help`."""
