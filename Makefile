# `make demo` and `make test` need Linux, Python 3.11+ and nothing else: each makes .venv and installs what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# a process a core, whole files at a time: fixtures of a file are made once; a test that ends its process fails
SPREAD := -n auto --dist loadfile --max-worker-restart 0

.PHONY: install demo demo-agent test test-fast test-gpu test-slow lint format bench pins tree docs clean

install: $(VENV)/.installed

$(VENV)/.python:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

# what the demo imports: neither vLLM nor the tools of the tests
$(VENV)/.demo: $(VENV)/.python pyproject.toml constraints-cpu.txt .ci/install
	.ci/install demo $(BIN)/python
	touch $@

$(VENV)/.installed: $(VENV)/.python pyproject.toml constraints-cpu.txt .ci/install
	.ci/install test $(BIN)/python
	touch $(VENV)/.demo $@

demo: $(VENV)/.demo
	$(BIN)/python demo/run.py

demo-agent: $(VENV)/.installed
	$(BIN)/python -m demo.agent

test: install
	$(BIN)/pytest -m 'not slow' $(SPREAD)

test-fast: install
	$(BIN)/pytest -m 'not slow and not heavy' $(SPREAD)

test-gpu: install
	$(BIN)/pytest -m gpu tests/gpu

test-slow: install
	$(BIN)/pytest -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

# every version of constraints-cpu.txt from this environment, after an upgrade in it
pins: install
	$(BIN)/python .ci/pins.py

# the pages that are written from the code: docs/layout.md and docs/cli.md
tree: install
	$(BIN)/python docs/tree.py
	$(BIN)/python docs/cli.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/pip install -q --disable-pip-version-check -c constraints-cpu.txt 'mkdocs-material>=9.5,<10'
	touch $@

clean:
	rm -rf demo/run site .pytest_cache .mypy_cache .ruff_cache
