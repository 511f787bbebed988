# `make run` and `make test` do everything on a fresh machine: they make .venv, install, and do the job.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: run test checks tests docs soak test-browser film test-ray gpu-test coverage mutants mutants-changed ecosystem openspiel lanes bench clean

run: $(VENV)/installed
	$(BIN)/borneo train --minutes 4 --players 4 --evaluations 5 --seed 1 --fresh --out out/run
	$(BIN)/borneo arena policy:out/run/best:budget=0 random contractor climber merchant --games 2000 --seed 1 --fresh --out out/run/arena

# Both parts at once: some tests only wait.
test: $(VENV)/installed
	$(MAKE) --jobs=2 checks tests

checks: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Byte code is kept, even where somebody has turned that off: pytest rewrites all tests at every start otherwise.
unexport PYTHONDONTWRITEBYTECODE

# Machine code is made once, before there are several processes that would each make it. Sums take one thread in each
# worker of pytest: the workers fill the cores.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

tests: $(VENV)/installed
	$(BIN)/borneo warm-up
	$(PYTEST)

# The documentation site, in site/. A warning is an error.
docs: $(VENV)/installed
	$(BIN)/mkdocs build --strict

# What takes long: 20,000 games and more against the independent referee, notebooks as they are, whole trainings, the site.
soak: $(VENV)/installed
	$(BIN)/pytest -m soak -s

# All that is clicked in a browser, some minutes. It installs Debian's Chromium if there is none, for which it asks sudo.
test-browser: $(VENV)/installed
	command -v chromium || command -v chromium-browser || command -v google-chrome || \
	  ($(SUDO) apt-get update && $(SUDO) apt-get install --yes chromium)
	$(BIN)/borneo warm-up
	$(PYTEST) -m browser tests/web

# The arena and trainings on clusters of Ray, some minutes: nodes are killed, memory is full, agents crash.
test-ray: $(VENV)/installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[ray]'
	$(BIN)/borneo warm-up
	$(BIN)/pytest -m ray tests/cluster

# The film of the README, played in a browser.
film: $(VENV)/installed
	$(BIN)/python docs/film.py

# On a machine with a CUDA card: games there and on the CPU, byte for byte.
gpu-test: $(VENV)/installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[gpu]'
	$(BIN)/pytest -m gpu tests/gpu

# The lines that tests reach. Those of compiled rules are counted in the second run, which interprets them.
coverage: $(VENV)/installed
	$(BIN)/borneo warm-up
	$(PYTEST) --cov --cov-report=
	NUMBA_DISABLE_JIT=1 $(PYTEST) --cov --cov-append tests/rules

# Deliberate faults in rules, engine and records, one by one in a copy of the project: tests must notice each. Minutes.
mutants: $(VENV)/installed
	$(BIN)/python tests/mutants/run.py

# Simple mutations of the lines that were changed since a revision: those that no test notices are listed.
BASE ?= main
mutants-changed: $(VENV)/installed
	PYTHONPATH=tests $(BIN)/python -m mutants.changed --base $(BASE)

# The game with other people's libraries, in virtual environments of their own: installed, tested, and learnt with.
ecosystem: $(VENV)/installed
	$(BIN)/python tests/ecosystem/run.py

# Only OpenSpiel: its own simulation tests and ours, and a learner of its own.
openspiel: $(VENV)/installed
	$(BIN)/python tests/ecosystem/run.py --only openspiel

# The oldest versions that are promised and the newest released, each in a virtual environment: compiled, played, tested.
lanes: $(VENV)/installed
	PYTHONPATH=tests $(BIN)/python -m lanes.run

# The engine beside other environments, and training beside a tutorial's, in a virtual environment of their own.
bench: .venv-bench/installed
	.venv-bench/bin/borneo bench
	.venv-bench/bin/python benchmarks/training.py

$(VENV)/installed: pyproject.toml constraints.txt
	@echo "packages are installed into $(VENV): 2 GB, some minutes without a word"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

.venv-bench/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --constraint constraints.txt --editable '.[bench,train]'
	touch $@

clean:
	rm -rf $(VENV) .venv-bench .venv-ecosystem .venv-lanes site
