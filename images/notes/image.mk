# The notes application's image. notes.mk includes this fragment.
#   make notes-image                                    into the lab's registry (or LAB_REGISTRY)
#   make notes-image REGISTRY=registry.example:5000     with your own Docker engine
#   make notes-image REGISTRY=... PLATFORMS=linux/amd64,linux/arm64      the same, through buildx
NOTES_ROOT  := $(abspath $(NOTES_DIR)../..)
DOCKER      ?= docker
PLATFORMS   ?=
comma       := ,
# Major and minor come from the manifest, the last number counts commits.
NOTES_VERSION = $(shell sed -n 's/^version = "\([0-9]*\.[0-9]*\).*/\1/p' $(NOTES_DIR)pyproject.toml).$(shell git -C $(NOTES_DIR) rev-list --count HEAD)
NOTES_IMAGE = $(REGISTRY)/queenright-notes
NOTES_BUILD = --build-arg VERSION=$(NOTES_VERSION) --build-arg REVISION=$(shell git -C $(NOTES_DIR) rev-parse HEAD) \
	-t $(NOTES_IMAGE):$(NOTES_VERSION) -t $(NOTES_IMAGE):latest $(NOTES_DIR)
notes-annotation = --annotation 'index,manifest:org.opencontainers.image.$(1)=$(2)'

.PHONY: notes-image notes-version notes-release
notes-version: ## notes: print the version, <major>.<minor>.<commit_count>
	@echo $(NOTES_VERSION)

notes-image: ## notes: build and push the image; to the lab's registry, or REGISTRY=host:port PLATFORMS=...
ifdef REGISTRY
	$(if $(PLATFORMS),$(DOCKER) buildx build --platform $(PLATFORMS) --push \
		$(call notes-annotation,title,notes) $(call notes-annotation,version,$(NOTES_VERSION)) \
		$(call notes-annotation,description,A web workspace that keeps everything in PostgreSQL) \
		$(call notes-annotation,licenses,Apache-2.0) $(NOTES_BUILD),\
	DOCKER_BUILDKIT=1 $(DOCKER) build $(NOTES_BUILD) \
		&& $(DOCKER) push $(NOTES_IMAGE):$(NOTES_VERSION) && $(DOCKER) push $(NOTES_IMAGE):latest)
else
	@cd $(NOTES_ROOT) && PYTHONDONTWRITEBYTECODE=1 python3 -m tests.lab.product_images $(if $(LAB_REGISTRY),--registry $(LAB_REGISTRY)) notes
endif

##@ Release
notes-release: ## notes: build and push for amd64 and arm64, from a commit that is tagged v<version>
	@test -n "$(REGISTRY)" || { echo "REGISTRY=host:port says where to" >&2; exit 1; }
	@test -z "$$(git -C $(NOTES_DIR) status --porcelain)" || { echo "the tree has changes that no commit has" >&2; exit 1; }
	@git -C $(NOTES_DIR) tag --points-at HEAD | grep -qx 'v$(NOTES_VERSION)' || { echo "this commit is not tagged v$(NOTES_VERSION)" >&2; exit 1; }
	@$(MAKE) --no-print-directory notes-image REGISTRY=$(REGISTRY) PLATFORMS=$(or $(PLATFORMS),linux/amd64$(comma)linux/arm64)
