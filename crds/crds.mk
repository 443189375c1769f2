# JSON Schemas of the kinds, generated from the models, and the field reference made from them.
##@ Develop
.PHONY: crds crds-check
crds: $(STAMP) ## write the JSON Schemas (crds/) and the field reference (docs/reference.md) anew
	@$(BIN)/python crds/generate.py

crds-check: $(STAMP) ## fail if a schema or the field reference differs from the models
	@$(BIN)/python crds/generate.py --check
