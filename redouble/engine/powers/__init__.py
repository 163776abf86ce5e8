"""What only a double can do: a clock that obeys, faults on demand, snapshots, chance by seed, traces, lint.

Each power is one file and one object of the engine. Unused, a power costs nothing: it hangs on a bit of
`flags.py` that no request meets while nobody has asked for it. `commands/controls*.py` makes the powers
reachable from every client (REDOUBLE), `testing/` from Python.
"""
