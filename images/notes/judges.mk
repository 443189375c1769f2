# Judges that were not written here, failovers, and measurements. notes.mk includes this fragment.
.PHONY: notes-judges notes-judges-install notes-bench
notes-judges-install: ## install what judges the notes application and was not written here
	@sh $(NOTES_DIR)tests/judges/install.sh

notes-judges: $(NOTES_STAMP) notes-judges-install ## notes: let the judges speak, and fail the database over
	cd $(NOTES_DIR) && $(NOTES_BIN)/pytest -q -m judge
	cd $(NOTES_DIR) && $(NOTES_BIN)/pytest -q tests/failover

notes-bench: $(NOTES_STAMP) notes-judges-install ## notes: speed and memory, measured side by side
	cd $(NOTES_DIR) && $(NOTES_BIN)/python -W ignore -m bench $(SECTIONS)
