# The demonstration on the lab (tests/lab/demo.py), and ways to look at it.
NODE ?= node3
PORT ?= 5000
DEMO_ENV = eval "$$($(MAKE) -s lab-env)" && export QUEENRIGHT_MANIFESTS=$(CURDIR)/.demo QUEENRIGHT_STATE_DIR=

.PHONY: demo status plan operator-log psql
demo: $(STAMP) ## from a bare machine to a running cluster on the lab
	@$(BIN)/python -m tests.lab.demo

status: $(STAMP) ## the demo's members, proxies, holds and last actions
	@$(DEMO_ENV) && $(BIN)/queenright status

plan: $(STAMP) ## what the demo's operator would do now, and why
	@$(DEMO_ENV) && $(BIN)/queenright plan

operator-log: ## follow the demo's operator
	@eval "$$($(MAKE) -s lab-env)" && docker service logs -f --raw --tail 40 queenright_operator

psql: ## psql through the proxy of NODE (node3), PORT (5000): make psql ARGS='-c "select 1"'
	@$(PYTHON) -m tests.lab.psql $(NODE) $(PORT) $(ARGS)
