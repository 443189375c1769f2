"""The asynchronous loop: observe, plan in the core, execute, record. Imports only ports."""
