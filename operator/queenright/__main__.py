"""``python -m queenright`` is ``queenright``."""

from queenright.cli.main import main

if __name__ == "__main__":
    main(prog_name="queenright")
