# Each command is complete in itself: it sets up what it needs, runs, and leaves nothing running.
# ARGS are handed on: make test ARGS="tests/cases -x", make manage ARGS="showmigrations".

.DEFAULT_GOAL := help
.PHONY: help demo test bench conformance check overnight manage format lock clean set-up set-up-browser

PYTHON := .venv/bin/python
# Some python3, of any age from 3.6 on, runs the set-up; the set-up finds the right one.
SET_UP = for python in python3 /usr/bin/python3 python3.13 python3.12 python3.14 python; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null; then \
		exec $$python tools/bootstrap.py
NO_PYTHON = ; fi; done; echo 'No python3 was found: install one (Debian: apt-get install python3).' >&2; exit 1

help:
	@echo 'make demo       the desk in your browser, on the S-318 night'
	@echo 'make overnight  the S-318 night alone, checked, without a browser'
	@echo 'make test       every test          make check   format, lint, types, imports, ceilings'
	@echo 'make conformance  the promises under crash, race and fault, counted, with a peer beside'
	@echo 'make bench      the refresh of 10,000 cases, beside one by one and beside the floor'
	@echo 'make manage     ARGS="…" for manage.py, with the services of the demo'
	@echo 'make format     make lock           make clean'

set-up:
	@$(SET_UP)$(NO_PYTHON)

set-up-browser:
	@$(SET_UP) --browser$(NO_PYTHON)

demo: set-up
	@exec $(PYTHON) -m tools.demo $(ARGS)

overnight: set-up
	@exec $(PYTHON) -m tools.overnight $(ARGS)

test: set-up-browser
	@exec $(PYTHON) -m tools.test $(ARGS)

bench: set-up
	@exec $(PYTHON) -m tools.bench $(ARGS)

conformance: set-up
	@exec $(PYTHON) -m tools.test --conformance full --maxschedchunk 1 tests/conformance $(ARGS)

check: set-up
	@exec $(PYTHON) -m tools.check $(ARGS)

manage: set-up
	@WATCHBILL_DEMO=1 WATCHBILL_MOVABLE_CLOCK=1 exec $(PYTHON) -m tools.run demo -- $(PYTHON) manage.py $(ARGS)

format: set-up
	@$(PYTHON) -m ruff check --fix --quiet . && $(PYTHON) -m ruff format .

# The lock records versions and hashes, never addresses.
lock: set-up
	@$(PYTHON) -m uv pip compile --quiet --upgrade --universal --python-version 3.12 --generate-hashes \
		--no-header --no-emit-index-url --no-emit-find-links --group dev pyproject.toml -o requirements.lock

clean:
	@exec python3 tools/clean.py
