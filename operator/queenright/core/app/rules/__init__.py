"""One concern of an application each; rules never see each other."""
