# Queenright. `make help` lists what there is; the README says what to type first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help venv hooks lock fmt lint types imports unit unit-all check e2e test test-all sim topology-sim bench soak topology power-losses clean
##@ Start
# A `##@` line names the group of the targets below it; without one it is Notes or Develop, by the file.
HELP_GROUPS := Start Develop Lab Notes Release
help: ## list the targets
	@awk -v groups="$(HELP_GROUPS)" ' \
	  FNR == 1 { group = FILENAME ~ /notes/ ? "Notes" : "Develop" } \
	  /^##@ / { group = $$2 } \
	  /^[a-z][a-z-]*:.*## / { \
	    text = $$0; sub(/^[^#]*## /, "", text); gsub(/[$$][$$]/, "$$", text); \
	    name = $$1; sub(/:.*/, "", name); \
	    lines[group] = lines[group] sprintf("  %-21s %s\n", name, text) } \
	  END { n = split(groups, order, " "); for (i = 1; i <= n; i++) printf "%s", (i > 1 ? "\n" : "") order[i] "\n" lines[order[i]] } \
	' $(MAKEFILE_LIST)

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

##@ Develop
hooks: ## let git check the subject of each commit (.githooks)
	git config core.hooksPath .githooks

lock: $(STAMP) ## resolve the dependencies anew (hash-pinned, no index addresses)
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) -o requirements/run.txt pyproject.toml
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) --extra dev -c requirements/run.txt -o requirements/dev.txt pyproject.toml
LOCK_FLAGS := --generate-hashes --strip-extras --allow-unsafe --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

fmt: $(STAMP) ## format the code
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: $(STAMP) ## ruff: lint and format
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(STAMP) ## mypy, strict: the operator and its simulation
	$(BIN)/mypy

imports: $(STAMP) ## import contracts
	$(BIN)/lint-imports

UNIT := tests/unit tests/golden tests/properties tests/sim tests/tidy
unit: export QUEENRIGHT_EXAMPLES ?= 10
# pytest rewrites each test file: it keeps the result in one folder, even where Python is to keep none.
KEPT := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/.pycache
# Two processes, each of which collects its own half: workers (-n) collect all of it each, and send reports.
unit: $(STAMP) ## the fast unit, golden, property and simulated tests
	@$(MAKE) --no-print-directory -j2 --output-sync=target --keep-going unit-modules unit-histories
.PHONY: unit-modules unit-histories
unit-modules unit-histories: export QUEENRIGHT_EXAMPLES ?= 10
unit-modules: $(STAMP)
	$(KEPT) $(BIN)/pytest -q -m "not slow" $(filter-out tests/sim,$(UNIT))
unit-histories: $(STAMP)
	$(KEPT) $(BIN)/pytest -q -m "not slow" tests/sim

unit-all: $(STAMP) ## these and the slow ones: kills, fields, mutations and more histories
	$(KEPT) $(BIN)/pytest -q -n auto --dist worksteal --reruns $(RERUNS) $(UNIT)

# A unit test compares schemas and field reference with the models, as crds-check does.
check: lint types imports unit ## what a change usually needs, 150 simulated histories among it

# All images first, by one process; then a pytest worker for each lab, and one for the tests that need
# none (tests/support/side_by_side.py).
LABS ?= 2
# How often a failed test is run again: `make test` does once, and names it (tests/support/second_try.py).
RERUNS ?= 0
# A lab on which nothing comes up fails each of its tests after minutes: the run ends and names them.
MOST_FAILURES ?= 5
e2e: $(STAMP) notes-judges-install ## end to end on LABS (2) labs side by side; the usual one is left running
	@PYTHONDONTWRITEBYTECODE=1 $(BIN)/python -m tests.lab.product_images --all
	$(BIN)/pytest -q -n $$(($(LABS) + 1)) --side-by-side --reruns $(RERUNS) --maxfail=$(MOST_FAILURES) \
		--durations=60 --processor-time \
		tests/contract tests/e2e

# A third of the long tests, by what is committed (tests/support/shares.py, images/notes/tests/shares.py).
test: export QUEENRIGHT_SHARE ?= $(shell git rev-parse 'HEAD^{tree}' 2>/dev/null)
test: export RERUNS = 1
##@ Start
test: lint types imports crds-check ## what a commit must pass, end to end included; a part that fails ends no other
	@log=$$(mktemp) failed=; trap 'rm -f "$$log"' EXIT; \
	for part in units e2e notes-tests; do \
		$(MAKE) --no-print-directory $$part 2>&1 | tee -a "$$log" || failed="$$failed $$part"; \
	done; [ -z "$$failed" ] || { \
		grep -aE '^(FAILED|ERROR|SECOND TRY) ' "$$log" | cut -c1-500 || true; \
		echo "make test: failed:$$failed" >&2; exit 1; }

test-all: export QUEENRIGHT_SIM_HISTORIES ?= 320
test-all: ## every test: all of the long ones, more histories (about two hours on 2 cores)
	@$(MAKE) --no-print-directory test QUEENRIGHT_SHARE=

# What is unit-like, before the labs and not beside them: where they share the processors each round of Patroni and of
# the operators takes longer than the time between two, so that they never rest, and the labs' tests run out of time.
.PHONY: units
units: $(STAMP) notes-web
	@$(MAKE) --no-print-directory --keep-going unit-all notes-lint notes-web-check

##@ Develop
sim: export QUEENRIGHT_SIM_HISTORIES ?= 20000
sim: export QUEENRIGHT_SIM_FAULTS ?= 50
sim: $(STAMP) ## 20,000 simulated histories of 50 faults, about two hours on 2 cores
	$(BIN)/pytest -q -n auto --dist worksteal tests/sim

topology-sim: $(STAMP) ## 20,000 simulated histories of 50 faults with edits of the members, about four hours on 2 cores
	$(BIN)/python -m tests.sim.topology_histories

bench: $(STAMP) ## speed and memory, side by side in one run
	@$(BIN)/python -m tests.bench

# The same faults twice: with replication by quorum, which may lose nothing, and by default. Not in `make test`.
SOAK_SEED ?= 1
SOAK_FAULTS ?= 40
soak: needs-root $(STAMP) ## random faults on the lab, and the rows that they cost by quorum and by default
	@$(BIN)/python -m tests.soak --seed $(SOAK_SEED) --faults $(SOAK_FAULTS)

# Each edit of the members, one after the other, under writes. Not in `make test`. Two dead nodes of five need
# LAB_NODES=7, and all other steps six.
TOPOLOGY_SEED ?= 1
TOPOLOGY_STEPS ?=
topology: export LAB_NODES := $(or $(LAB_NODES),7)
topology: needs-root $(STAMP) ## edits of the members on a lab of seven nodes: time, write gap and lost rows of each
	@$(BIN)/python -m tests.topology --seed $(TOPOLOGY_SEED) --steps "$(TOPOLOGY_STEPS)"

# All members lose power and what they had not synced, in each variant in turn. Not in `make test`. The lab keeps
# its disks until `make lab-down`: take another one down first, or choose another LAB_DIR and LAB_SUBNET.
LOSSES_SEED ?= 1
LOSSES_ROUNDS ?= 100
LOSSES_VARIANTS ?=
power-losses: export LAB_DISK_GIB := $(or $(LAB_DISK_GIB),8)
power-losses: needs-root $(STAMP) ## 100 total power losses on the lab that lose unsynced data: time and rows of each
	@$(BIN)/python -m tests.power_losses --seed $(LOSSES_SEED) --rounds $(LOSSES_ROUNDS) \
		--variants "$(LOSSES_VARIANTS)"

clean: ## remove what make made here (not the lab's images)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .pycache .hypothesis

include tests/lab/lab.mk tests/lab/demo.mk images/images.mk crds/crds.mk
-include images/notes/notes.mk
