# The notes application: its own project, its own venv. The top Makefile includes this fragment.
NOTES_DIR   := $(dir $(lastword $(MAKEFILE_LIST)))
NOTES_VENV  := $(NOTES_DIR).venv
NOTES_BIN   := $(abspath $(NOTES_VENV))/bin
NOTES_STAMP := $(NOTES_VENV)/.installed
# One more than processors: most tests also wait, for a failover, a browser, a container.
NOTES_WORKERS := 3
# In the order of the folder: it begins with the tests that take longest. tests/groups.py says what stays together.
NOTES_PARALLEL := -n $(NOTES_WORKERS) --dist loadfile --no-loadscope-reorder
# pytest rewrites each test file: it keeps the result, for the second part's process, even where Python is to keep none.
NOTES_PYTEST := PYTHONDONTWRITEBYTECODE= $(NOTES_BIN)/pytest -q
NOTES_LOCK_FLAGS := --generate-hashes --strip-extras --allow-unsafe --no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.PHONY: notes notes-venv notes-run notes-lint notes-check notes-test notes-tests notes-lock
notes: notes-venv notes-web notes-image ## build the notes application: its venv, and its image in the lab's registry
notes-venv: $(NOTES_STAMP) ## notes: make only the venv, with .venv/bin/notes in it

$(NOTES_STAMP): $(NOTES_DIR)requirements/dev.txt $(NOTES_DIR)requirements/web.txt $(NOTES_DIR)pyproject.toml
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
	@python3 -c 'import venv, ensurepip' 2>/dev/null || { apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; }
	@test -x $(NOTES_BIN)/python || python3 -m venv $(NOTES_VENV)
	@echo "installing the notes application's pinned dependencies"
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/web.txt
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

notes-run: $(NOTES_STAMP) notes-web ## run one notes replica with its own PostgreSQL, to try it
	@cd $(NOTES_DIR) && $(NOTES_BIN)/python -W ignore:XDG_RUNTIME_DIR -m tests.try_it

notes-lint: $(NOTES_STAMP) ## notes: check lint and types
	cd $(NOTES_DIR) && $(NOTES_BIN)/ruff check . && $(NOTES_BIN)/ruff format --check . && $(NOTES_BIN)/mypy

notes-check: notes-lint notes-web-check ## notes: check lint and types, run the fast tests
	cd $(NOTES_DIR) && $(NOTES_PYTEST) $(NOTES_PARALLEL) -m "not slow and not judge and not quiet"
	cd $(NOTES_DIR) && $(NOTES_PYTEST) -m "quiet and not slow and not judge"

notes-test: notes-lint notes-web-check notes-tests ## notes: run all tests, with judges and failovers

# The tests alone: `make test` has checked lint, types and the workspace by then.
NOTES_SLOWEST := --durations=25
notes-tests: $(NOTES_STAMP) notes-web notes-judges-install
	cd $(NOTES_DIR) && $(NOTES_PYTEST) $(NOTES_PARALLEL) --reruns $(RERUNS) $(NOTES_SLOWEST) -m "not quiet"
	cd $(NOTES_DIR) && $(NOTES_PYTEST) --reruns $(RERUNS) $(NOTES_SLOWEST) -m quiet

notes-lock: $(NOTES_STAMP) ## notes: resolve and pin the dependencies again
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) -o requirements/build.txt requirements/build.in
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) -o requirements/web.txt requirements/web.in
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) -o requirements/run.txt pyproject.toml
	cd $(NOTES_DIR) && $(NOTES_BIN)/pip-compile -q --upgrade $(NOTES_LOCK_FLAGS) --extra dev -c requirements/run.txt -o requirements/dev.txt pyproject.toml

include $(NOTES_DIR)web.mk
include $(NOTES_DIR)judges.mk
include $(NOTES_DIR)image.mk
