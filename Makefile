PYTHON ?= python3
PORT ?= 3000
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
VLLM := .venv-vllm
VLLM_PYTHON ?= python3.11
VLLM_STAMP := $(VLLM)/.installed
SMALL_MODEL := $(VLLM)/smollm2-135m-instruct

.PHONY: setup run test test-faults test-ray fuzz test-vllm test-browser lint bench ui clean

setup: $(STAMP)

# The lock file pins every package with its hash; the project itself is linked, not copied.
$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(STAMP)

run: setup
	$(BIN)/mineevolve loop

test: setup lint
	$(BIN)/python -m pytest -q -n auto

# Killed writers, full disks, damaged files, many writers at once.
test-faults: setup
	$(BIN)/python -m pytest -q -m faults -n auto

# Of everything that reads what others wrote: a fixed number of inputs each, from a fixed seed.
fuzz: setup
	$(BIN)/python -m tests.fuzz

# Episodes on a Ray cluster of two nodes on this machine, an actor killed on the way.
test-ray: setup
	$(BIN)/python -m pytest -q -m ray tests/test_ray_cluster.py tests/test_backends_bench.py

# vLLM's CPU build has pins of its own, so it lives in an environment of its own; the engine asks it from there.
test-vllm: setup $(SMALL_MODEL)
	$(BIN)/python -m pytest -q -m vllm tests/test_vllm.py

# A person's way through the UI, in Chromium (Debian's package, or what MINEEVOLVE_CHROMIUM names).
test-browser: setup
	$(BIN)/python -m pytest -q -m browser tests/test_browser.py

$(SMALL_MODEL): $(VLLM_STAMP) tests/small_model.py
	HF_HUB_OFFLINE=1 $(VLLM)/bin/python tests/small_model.py $@
	touch $@

$(VLLM_STAMP): requirements-vllm.lock
	$(VLLM_PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --require-hashes --no-deps -r requirements-vllm.lock
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m bench

ui: setup
	$(BIN)/mineevolve ui --port $(PORT)

clean:
	rm -rf $(VENV) $(VLLM) data build *.egg-info
