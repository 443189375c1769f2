"""Documents, observations, worlds and programs that several test files start from."""
