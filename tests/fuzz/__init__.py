"""Differential fuzzing: random commands go to Redouble and to a real server, and every reply must agree.

- `families/`: what commands look like, as text, one module per family of commands;
- `grammar.py`: makes commands from that text, good ones and spoiled ones;
- `relaxed.py`: the few places where two true servers may answer differently;
- `duel.py`: runs a script on both, compares replies, key events and what is left behind;
- `test_fuzz.py`: the tests. `make fuzz SECONDS=3600 FAMILY=lists` runs longer, with new seeds.
"""
