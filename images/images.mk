# The images (images/README.md).
#   make images                                   on the lab's stand-in bases, into the lab's registry
#   make images REGISTRY=registry.example:5000    with your own Docker engine, from the public bases
#   make images REGISTRY=... PLATFORMS=linux/amd64,linux/arm64     likewise, through buildx
##@ Release
PLATFORMS ?=
DOCKER ?= docker
OPERATOR_VERSION = $(shell $(PYTHON) -c 'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')

.PHONY: images lab-images images-lock
ifdef REGISTRY
# $(1) name and tag, $(2) context and options
image-commands = $(if $(PLATFORMS),\
	$(DOCKER) buildx build --platform $(PLATFORMS) --push -t $(REGISTRY)/queenright-$(1) $(2),\
	DOCKER_BUILDKIT=1 $(DOCKER) build -t $(REGISTRY)/queenright-$(1) $(2) && $(DOCKER) push $(REGISTRY)/queenright-$(1))
images: ## build the images and push them: REGISTRY=host:port, PLATFORMS=linux/amd64,linux/arm64
	$(call image-commands,member:16,images/member)
	$(call image-commands,proxy:3.0-alpine,images/proxy)
	$(call image-commands,vip:2.2,images/vip)
	$(call image-commands,edge:2.6,images/edge)
	$(call image-commands,repository:2.30,images/repository)
	$(call image-commands,operator:$(OPERATOR_VERSION),-f images/operator/Dockerfile .)
else
images: lab-images
endif
##@ Lab
lab-images: ## build the images on the lab's stand-in bases, into the lab's registry (or LAB_REGISTRY)
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) -m tests.lab.product_images $(if $(LAB_REGISTRY),--registry $(LAB_REGISTRY))
##@ Develop
images-lock: $(STAMP) ## resolve the images' own dependencies anew
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) --no-annotate -o images/member/requirements.txt images/member/requirements.in
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) --no-annotate -o images/member/build.txt images/member/build.in
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) --no-annotate --no-allow-unsafe --unsafe-package psycopg2 -o images/member/backup.txt images/member/backup.in
	sed -i '/^#/d' images/member/backup.txt
	$(BIN)/pip-compile -q --upgrade $(LOCK_FLAGS) --no-annotate -o images/operator/build.txt images/operator/build.in
