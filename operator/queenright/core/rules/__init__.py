"""One concern a file: each rule turns (Desired, Observed) into actions and holds."""
