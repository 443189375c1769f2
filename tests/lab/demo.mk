# The demonstration on the lab (tests/lab/demo.py), and ways to look at it.
# The operator's state is read where its volume lies: the last actions, and what is in force.
DEMO_STATE = $$(docker volume inspect -f '{{.Mountpoint}}' queenright_state 2>/dev/null || true)
DEMO_ENV = eval "$$($(MAKE) -s lab-env)" && export QUEENRIGHT_MANIFESTS=$(CURDIR)/.demo QUEENRIGHT_STATE_DIR="$(DEMO_STATE)"

.PHONY: demo status plan operator-log psql
##@ Start
demo: needs-root $(STAMP) ## from a bare machine to a running cluster on the lab
	@$(BIN)/python -m tests.lab.demo

##@ Lab
status: $(STAMP) ## the demo's members, proxies, holds and last actions
	@$(DEMO_ENV) && $(BIN)/queenright status

# The README's picture: a real run, recorded and drawn; or the recording that is there, drawn anew.
PICTURES := docs/pictures
.PHONY: demo-recording demo-picture
##@ Release
demo-recording: needs-root $(STAMP) ## run the demo on the lab and record it for the README
	@$(BIN)/python -m tests.lab.recording record $(PICTURES)/demo.cast make demo
	@$(BIN)/python -m tests.lab.recording render $(PICTURES)/demo.cast
demo-picture: $(STAMP) ## draw the README's picture of the demo from its recording
	@$(BIN)/python -m tests.lab.recording render $(PICTURES)/demo.cast

##@ Lab
# Exit status 2 says that something is to be done or held: for `make` that is no error.
plan: $(STAMP) ## what the demo's operator would do now, and why
	@$(DEMO_ENV) && { $(BIN)/queenright plan || [ $$? -eq 2 ]; }

operator-log: ## follow the log of the demo's operator, shortened; in a pipe as JSON lines
	@eval "$$($(MAKE) -s lab-env)" && docker service logs -f --raw --tail 40 queenright_operator | $(PYTHON) -m tests.lab.operator_log

psql: ## psql through the proxy of NODE (node3), PORT (5000): make psql ARGS='-c "select 1"'
	@$(PYTHON) -m tests.lab.psql $(or $(NODE),node3) $(or $(PORT),5000) $(ARGS)
