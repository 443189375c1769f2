# The demonstration on the lab (tests/lab/demo.py), and ways to look at it.
# The operator's state is read where its volume lies: the last actions, and what is in force.
DEMO_STATE = $$(docker volume inspect -f '{{.Mountpoint}}' queenright_state 2>/dev/null || true)
DEMO_ENV = eval "$$($(MAKE) -s lab-env)" && export QUEENRIGHT_MANIFESTS=$(CURDIR)/.demo QUEENRIGHT_STATE_DIR="$(DEMO_STATE)"

.PHONY: demo status plan operator-log psql
demo: needs-root $(STAMP) ## from a bare machine to a running cluster on the lab
	@$(BIN)/python -m tests.lab.demo

status: $(STAMP) ## the demo's members, proxies, holds and last actions
	@$(DEMO_ENV) && $(BIN)/queenright status

# Exit status 2 says that something is to be done or held: for `make` that is no error.
plan: $(STAMP) ## what the demo's operator would do now, and why
	@$(DEMO_ENV) && { $(BIN)/queenright plan || [ $$? -eq 2 ]; }

operator-log: ## follow the demo's operator, told shortly; piped: its own JSON lines
	@eval "$$($(MAKE) -s lab-env)" && docker service logs -f --raw --tail 40 queenright_operator | $(PYTHON) -m tests.lab.operator_log

psql: ## psql through the proxy of NODE (node3), PORT (5000): make psql ARGS='-c "select 1"'
	@$(PYTHON) -m tests.lab.psql $(or $(NODE),node3) $(or $(PORT),5000) $(ARGS)
