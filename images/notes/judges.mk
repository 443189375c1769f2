# Judges that were not written here, failovers, and measurements. notes.mk includes this fragment.
.PHONY: notes-judges notes-judges-install notes-bench notes-loss notes-steps notes-screenshots
notes-judges-install: ## notes: install the judges, programs of other projects that check the application
	@sh $(NOTES_DIR)tests/judges/install.sh

notes-judges: $(NOTES_STAMP) notes-web notes-judges-install ## notes: run the judges and the failover tests
	cd $(NOTES_DIR) && $(NOTES_PYTEST) $(NOTES_PARALLEL) -m judge
	cd $(NOTES_DIR) && $(NOTES_PYTEST) $(NOTES_PARALLEL) tests/failover

notes-bench: $(NOTES_STAMP) notes-web notes-judges-install ## notes: measure speed and memory, compared with bare handlers
	cd $(NOTES_DIR) && $(NOTES_BIN)/python -W ignore -m bench $(SECTIONS)

notes-loss: $(NOTES_STAMP) notes-web notes-judges-install ## notes: browsers write while everything fails (ROUNDS=500, SEED, WORLDS=1)
	cd $(NOTES_DIR) && $(NOTES_BIN)/python -W ignore -m tests.judges.loss $(or $(ROUNDS),500) \
		$(or $(SEED),$(shell date +%s)) $(WORLDS)

notes-steps: $(NOTES_STAMP) notes-judges-install ## notes: 100,000 random steps, judged by prosemirror-transform (STEPS=100000)
	cd $(NOTES_DIR) && NOTES_STEP_CASES=$(or $(STEPS),100000) $(NOTES_PYTEST) -m judge tests/judges/test_prosemirror.py

notes-screenshots: $(NOTES_STAMP) notes-web notes-judges-install ## notes: take a picture of every screen into docs/screens (SCREENS="home page")
	cd $(NOTES_DIR) && $(NOTES_BIN)/python -W ignore -m tests.judges.screenshots $(SCREENS)
