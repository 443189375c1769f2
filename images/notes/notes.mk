# The notes application: its own project, its own venv. The top Makefile includes this fragment.
NOTES_DIR   := $(dir $(lastword $(MAKEFILE_LIST)))
NOTES_VENV  := $(NOTES_DIR).venv
NOTES_BIN   := $(abspath $(NOTES_VENV))/bin
NOTES_STAMP := $(NOTES_VENV)/.installed
NOTES_LOCK_FLAGS := --generate-hashes --strip-extras --allow-unsafe --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.PHONY: notes notes-venv notes-run notes-lint notes-check notes-test notes-lock
notes: notes-venv notes-image ## build the notes application: its venv, and its image into the lab's registry
notes-venv: $(NOTES_STAMP) ## notes: the venv alone, with .venv/bin/notes in it

$(NOTES_STAMP): $(NOTES_DIR)requirements/dev.txt $(NOTES_DIR)pyproject.toml
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
	@python3 -c 'import venv, ensurepip' 2>/dev/null || { apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; }
	@test -x $(NOTES_BIN)/python || python3 -m venv $(NOTES_VENV)
	@echo "installing the notes application's pinned dependencies"
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

notes-run: $(NOTES_STAMP) ## run one notes replica on a PostgreSQL of its own, for a look at it
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -W ignore:XDG_RUNTIME_DIR -m tests.try_it

notes-lint: $(NOTES_STAMP) ## notes: lint and types
	cd $(NOTES_DIR) && $(NOTES_BIN)/ruff check . && $(NOTES_BIN)/ruff format --check . && $(NOTES_BIN)/mypy

notes-check: notes-lint ## notes: lint, types and the fast tests
	cd $(NOTES_DIR) && $(NOTES_BIN)/pytest -q -m "not slow and not judge"

notes-test: notes-lint notes-judges-install ## notes: every test, judges and failovers included
	cd $(NOTES_DIR) && $(NOTES_BIN)/pytest -q

notes-lock: $(NOTES_STAMP) ## notes: resolve the dependencies anew
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) -o requirements/build.txt requirements/build.in
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) -o requirements/run.txt pyproject.toml
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) --extra dev -c requirements/run.txt -o requirements/dev.txt pyproject.toml

include $(NOTES_DIR)judges.mk
include $(NOTES_DIR)image.mk
