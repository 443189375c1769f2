"""The asynchronous loop: observes, asks the core, executes, and records. Knows only ports."""
