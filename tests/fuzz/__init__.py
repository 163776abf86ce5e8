"""Differential fuzzing: random commands go to Redouble and to a real server, and every reply must agree.

- `families/`: what commands look like, as text, one module per family of commands, and a mix of them;
- `grammar.py`: makes commands from that text, good ones and spoiled ones;
- `side.py`: one of the two servers, with its connections, settings and key events;
- `duel.py`: runs a script on both, compares replies, messages, key events and what is left behind;
- `relaxed.py`: which replies may differ, by rules about data (`rules.py`) and about servers (`server_rules.py`);
- `forked.py`: where Valkey goes its own way;
- `test_fuzz.py`: the tests. `make fuzz SECONDS=3600` runs longer, with new seeds; one family alone is
  `FUZZ_SECONDS=3600 python -m pytest tests/fuzz -k lists`.
"""
