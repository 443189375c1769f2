# Queenright. `make help` lists what there is; the README says what to type first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help venv lock fmt lint types imports unit check e2e test sim bench clean
help: ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{gsub(/[$$][$$]/, "$$"); printf "  %-14s %s\n", $$1, $$2}'

venv: $(STAMP) ## make .venv, with .venv/bin/queenright in it
$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=$(PYTHON))" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  [ "$$(id -u)" = 0 ] || { echo "Debian's package python3-venv is missing: run make as root, or install it" >&2; exit 1; }; \
	  echo "installing Debian package: python3-venv"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing the pinned dependencies into $(VENV) (about half a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock: $(STAMP) ## resolve the dependencies anew (hash-pinned, no index addresses)
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) -o requirements/run.txt pyproject.toml
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) --extra dev -c requirements/run.txt -o requirements/dev.txt pyproject.toml
LOCK_FLAGS := --generate-hashes --strip-extras --allow-unsafe --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

fmt: $(STAMP) ## format the code
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: $(STAMP) ## ruff: lint and format
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

imports: $(STAMP) ## import contracts
	$(BIN)/lint-imports

unit: $(STAMP) ## unit, golden, property and simulated tests
	$(BIN)/pytest -q -n auto --dist worksteal tests/unit tests/golden tests/properties tests/sim tests/tidy

check: lint types imports crds-check unit ## everything fast, a thousand simulated histories among it: about two minutes

# All images first, by one process; then a pytest worker for each lab (tests/side_by_side.py).
LABS ?= 2
e2e: $(STAMP) ## end to end on LABS (2) labs side by side; the usual one is left running
	@PYTHONDONTWRITEBYTECODE=1 $(BIN)/python -m tests.lab.product_images --all
	$(BIN)/pytest -q -n $(LABS) --side-by-side --durations=25 tests/contract tests/e2e

test: export QUEENRIGHT_SIM_HISTORIES = 300
test: check e2e notes-test ## everything, end to end included

sim: export QUEENRIGHT_SIM_HISTORIES ?= 20000
sim: export QUEENRIGHT_SIM_FAULTS ?= 50
sim: $(STAMP) ## 20,000 simulated histories of 50 faults, about an hour on 2 cores
	$(BIN)/pytest -q -n auto --dist worksteal tests/sim

bench: $(STAMP) ## speed and memory, side by side in one run
	@$(BIN)/python -m tests.bench

clean: ## remove what make made here (not the lab's images)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

include tests/lab/lab.mk tests/lab/demo.mk images/images.mk crds/crds.mk
-include images/notes/notes.mk
