PYTHON ?= python3
PORT ?= 3000
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MINEFLAYER := rollouts/worlds/mineflayer/worker
VLLM := .venv-vllm
VLLM_PYTHON ?= python3.11
VLLM_STAMP := $(VLLM)/.installed
SMALL_MODEL := $(VLLM)/smollm2-135m-instruct
MINESTUDIO := .venv-minestudio
MINESTUDIO_PYTHON ?= python3.11
MINESTUDIO_STAMP := $(MINESTUDIO)/.installed
MINERL := .venv-minerl
MINERL_PYTHON ?= python3.8
MINERL_STAMP := $(MINERL)/.installed
RANDOM_STEVE1 := $(MINESTUDIO)/steve1-random

.PHONY: setup run test test-faults fuzz test-ray test-crafter test-vllm test-browser test-mineflayer test-steve1 \
	world-mineflayer world-minestudio world-minerl lint bench ui clean

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

# Node 20 and 600 MB of packages, and a look at whether a player gets into a world of theirs.
world-mineflayer: setup $(MINEFLAYER)/node_modules/.installed
	$(BIN)/python -m rollouts.worlds.mineflayer

$(MINEFLAYER)/node_modules/.installed: $(MINEFLAYER)/package-lock.json
	npm --prefix $(MINEFLAYER) ci --no-audit --no-fund --loglevel=error
	touch $@

# MineStudio's pins fit no other environment. The game itself is fetched apart (docs/worlds.md).
world-minestudio: setup $(MINESTUDIO_STAMP)
	$(BIN)/python -m rollouts.worlds.client minestudio

$(MINESTUDIO_STAMP): requirements-minestudio.lock
	$(MINESTUDIO_PYTHON) -m venv $(MINESTUDIO)
	$(MINESTUDIO)/bin/python -m pip install --quiet --require-hashes --no-deps -r requirements-minestudio.lock
	touch $@

# MineRL 0.4.4, whose spaces the tests of the world minerl look at, where there is a Python 3.8. To play needs
# MineRL 1.0.2, Java 8 and the game's build (docs/worlds.md).
world-minerl: setup $(MINERL_STAMP)
	$(BIN)/python -m rollouts.worlds.client minerl

$(MINERL_STAMP): requirements-minerl.lock
	@$(MINERL_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 8))' || \
		{ echo "MineRL 0.4.4 needs Python 3.8: make world-minerl MINERL_PYTHON=/path/to/python3.8" >&2; exit 1; }
	$(MINERL_PYTHON) -m venv $(MINERL)
	$(MINERL)/bin/python -m pip install --quiet "setuptools<60" wheel
	READTHEDOCS=1 $(MINERL)/bin/python -m pip install --quiet --no-build-isolation --require-hashes --no-deps \
		-r requirements-minerl.lock
	touch $@

# MineStudio's real simulator and its STEVE-1, the first over a game of a few lines, the second with random weights.
test-steve1: world-minestudio $(RANDOM_STEVE1)
	$(BIN)/python -m pytest -q -m steve1 tests/test_minestudio_world.py tests/test_steve1.py

$(RANDOM_STEVE1): $(MINESTUDIO_STAMP) tests/steve1_model.py
	$(MINESTUDIO)/bin/python tests/steve1_model.py $@
	touch $@

# The second domain, end to end: training, frozen evaluation, report.
test-crafter: setup
	$(BIN)/python -m pytest -q -m crafter tests/test_crafter_loop.py

test-mineflayer: world-mineflayer
	$(BIN)/python -m pytest -q -m mineflayer tests/test_mineflayer.py

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
	rm -rf $(VENV) $(VLLM) $(MINESTUDIO) $(MINERL) $(MINEFLAYER)/node_modules data build *.egg-info
