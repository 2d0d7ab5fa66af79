# Everything a developer types. `make help` lists it.
#
#   PYTHON   the interpreter the environments are made from
#   TORCH    a release of torch to pin, such as 2.13.0; empty: the newest supported one
#   VENV     the environment's folder
#   PIP_ARGS further arguments for pip, such as the index of torch's CPU builds

PYTHON ?= python3
TORCH ?=
VENV ?= .venv$(if $(TORCH),-torch-$(TORCH))
PIP_ARGS ?=
PYTEST_ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS)
PIN := $(if $(TORCH),torch==$(TORCH))
PACKAGES := src tests examples benchmarks tools

# One compile worker: tests measure and fork, and worker processes would outlive them.
export TORCHINDUCTOR_COMPILE_THREADS := 1

# As many tests at a time as there are cores, each with one thread; then those that measure time.
define tests
OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not alone" $(PYTEST_ARGS)
$(BIN)/python -m pytest -m alone $(PYTEST_ARGS)
endef

.PHONY: help demo test test-pytest-only lint cases compat same-bytes bench gpu-check clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|' 2>/dev/null \
	  || sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1   \2/p' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-examples  ## inspect a real model; writes graphlens-out/report.html, .json and .svg
	$(BIN)/graphlens demo

test: lint  ## all checks: format, lint, types, layers, and every test
	$(tests)

lint: $(VENV)/.installed-test  ## format, lint, types and layers
	$(BIN)/ruff format --check $(PACKAGES)
	$(BIN)/ruff check $(PACKAGES)
	$(BIN)/mypy
	$(BIN)/lint-imports

test-pytest-only: $(VENV)/.installed-test  ## the tests alone, such as with TORCH=2.13.0
	$(tests)

compat:  ## the tests on the oldest supported torch
	$(MAKE) test-pytest-only TORCH=2.11.0

cases: $(VENV)/.installed-test  ## all case programs under graphlens and under inductor; most of an hour
	$(BIN)/python tools/run_cases.py --inner inductor --markdown docs/cases.md

# The layers that draw need no torch, so these environments are small. A Python that is not there is
# told, and the others are compared.
same-bytes: $(VENV)/.installed-test  ## diagrams on Python 3.10 and 3.13 and with other hash seeds, byte for byte
	@mkdir -p graphlens-out; export PYTHONHASHSEED=0; $(BIN)/python tools/same_bytes.py > graphlens-out/same-bytes; \
	wc -l graphlens-out/same-bytes; \
	for version in 3.10 3.13; do \
	  if ! python$$version -c "" 2>/dev/null; then echo "Python $$version is not here"; continue; fi; \
	  python$$version -m venv .venv-drawing-$$version && \
	  .venv-drawing-$$version/bin/pip install --quiet --disable-pip-version-check $(PIP_ARGS) --editable . && \
	  PYTHONHASHSEED=7 .venv-drawing-$$version/bin/python tools/same_bytes.py \
	    | diff graphlens-out/same-bytes - && echo "Python $$version: the same" || exit 1; \
	done

bench: $(VENV)/.installed-examples  ## what graphlens costs, side by side with inductor
	$(BIN)/python benchmarks/overhead.py --full

gpu-check: $(VENV)/.installed-test  ## tests that need a CUDA device, then a model's kernels with their times
	$(BIN)/python -m pytest -m gpu $(PYTEST_ARGS)
	$(BIN)/python tools/gpu_check.py

clean:  ## remove what was built or written, the environments included
	rm -rf .venv .venv-torch-* .venv-drawing-* graphlens-out build dist src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# An environment with a pinned torch has no torchvision, whose builds fit one build of torch only;
# tests that need it skip there.
$(VENV)/.installed-examples: pyproject.toml | $(VENV)/.made
	$(PIP) -e '.[$(if $(TORCH),torch,examples)]' $(PIN)
	@$(BIN)/python tools/check_environment.py $(TORCH)
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/.made
	$(PIP) -e '.[$(if $(TORCH),test,test$(comma)examples)]' $(PIN)
	@$(BIN)/python tools/check_environment.py $(TORCH)
	@touch $@ $(VENV)/.installed-examples

comma := ,

# A pip older than 21.3 cannot install this project in editable form; newer ones are left alone.
$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=21.3'
	@touch $@
