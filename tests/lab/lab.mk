# The lab: a real Docker Swarm of several nodes on this machine (tests/lab/README.md).
# LAB_NODES, LAB_SUBNET, LAB_DIR, LAB_BUILDER and LAB_DISK_GIB choose the instance; they reach the lab through the environment.
##@ Lab
export LAB_NODES LAB_SUBNET LAB_DIR LAB_BUILDER LAB_DISK_GIB
LAB := PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m tests.lab

.PHONY: needs-root
needs-root:
	@[ "$$(id -u)" = 0 ] || { echo "the lab needs root (network namespaces, mounts): become root first" >&2; exit 1; }

.PHONY: lab-up lab-down lab-purge lab-reset lab-status lab-env lab-fault lab-run lab-registry
lab-up: ## bring up the lab: a swarm of LAB_NODES (4) nodes and a registry
	@$(LAB) up
lab-down: ## stop the lab and remove its nodes' disks; images stay cached
	@$(LAB) down
lab-purge: ## do lab-down, and remove the cached images
	@$(LAB) purge
lab-reset: ## make the lab's swarm bare again; pulled image layers stay
	@$(LAB) reset
lab-status: ## show the lab's nodes
	@$(LAB) status
lab-env: ## print shell exports for Docker clients: eval "$$(make -s lab-env)"
	@$(LAB) env
lab-fault: ## break or mend a node: NODE=node3 FAULT=power-cut (FAULT=help lists them)
	@$(LAB) fault $(if $(filter-out help,$(FAULT)),$(NODE) $(FAULT),--help)
lab-run: ## run a command on a node, or as a client: NAME=outside CMD='...'
	@$(LAB) run $(NAME) -- $(CMD)
lab-registry: ## bring up the lab's image registry alone
	@$(LAB) registry-up
