# Two commands for a newcomer: `make run` starts the server, `make test` runs every test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 6379

# For `make fuzz`: seconds for each family of commands, values for each of the four libraries of scripts.
SECONDS ?= 300
VALUES ?= 25000

# For `make compat`: names of units (or `forced`), one test, how many at a time, which server.
UNITS ?=
TEST ?=
JOBS ?= 2
SERVER ?= redouble
COMPAT = $(BIN)/python -m tools.compat --jobs $(JOBS) --server $(SERVER) --units '$(UNITS)' --test '$(TEST)' \
  $(if $(FORCE),--force) $(if $(ACCEPT),--accept)

.PHONY: run test test-compiled check bench fuzz compat compat-check wheel compiled oracle node-clients clean

run: $(VENV)/.installed ## Install into .venv and start the server on 127.0.0.1:6379
	$(BIN)/redouble --port $(PORT)

$(VENV)/.installed: pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/pip install --quiet --editable '.[dev]'
	@touch $@

test: $(VENV)/.dev oracle node-clients ## All tests, on the interpreted source
	$(BIN)/python -m pytest -n 2 tests

test-compiled: compiled oracle node-clients ## The same tests on the compiled build
	cd build/compiled && ../../$(BIN)/python -m pytest -n 2 tests

check: $(VENV)/.dev ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev oracle ## Redouble beside redis-server in one run
	$(BIN)/python -m benchmarks

fuzz: $(VENV)/.dev oracle ## Random commands and values beside redis-server, SECONDS for each family
	FUZZ_SECONDS=$(SECONDS) FUZZ_VALUES=$(VALUES) $(BIN)/python -m pytest -n 2 tests/fuzz tests/lua_runtime/test_oracle.py

compat: $(VENV)/.installed ## Redis' own Tcl suite; a whole run writes docs/compatibility.md
	$(COMPAT)

compat-check: $(VENV)/.installed ## The same without the slow units: no test that passed may be lost
	$(COMPAT) --check

wheel: $(VENV)/.dev ## The compiled wheel, in dist/
	rm -rf dist
	REDOUBLE_COMPILE=1 $(BIN)/pip wheel --quiet --no-deps --wheel-dir dist .

compiled: wheel
	rm -rf build/compiled
	$(BIN)/pip install --quiet --no-deps --target build/compiled dist/redouble-*.whl
	cp -r tests examples docs benchmarks pyproject.toml Makefile Dockerfile build/compiled/
	rm -rf build/compiled/tests/clients/node_modules
	[ ! -d tests/clients/node_modules ] || ln -s ../../../../tests/clients/node_modules build/compiled/tests/clients/node_modules

oracle: ## Debian's redis-server and redis-cli, where they may be installed
	@command -v redis-server >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server redis-tools; } \
	  || echo "NO ORACLE: redis-server is not installed and can't be; tests that compare with it are skipped."

node-clients: tests/clients/node_modules/.installed

tests/clients/node_modules/.installed: tests/clients/package.json tests/clients/package-lock.json
	@if command -v npm >/dev/null; then cd tests/clients && npm ci --silent --no-audit --no-fund && touch node_modules/.installed; \
	  else echo "NO NODE: npm is not installed; the tests of Node clients are skipped."; fi

clean:
	rm -rf $(VENV) build dist *.egg-info tests/clients/node_modules
