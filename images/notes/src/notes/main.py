"""The command: `notes` serves; `notes --check-config` only says what is wrong.

Exit codes: 0 stopped as asked, or the configuration is sound; 2 the configuration or the database's
state forbids to start, with one line for each reason.
"""

import os
import signal
import sys
from types import FrameType

# The rest is imported once a signal can be answered: that takes a second or two.


def main() -> None:
    """Entry point of the command."""
    signal.signal(signal.SIGTERM, _stop_early)
    import argparse

    from notes.config import ConfigError, load
    from notes.version import version

    parser = argparse.ArgumentParser(prog="notes", description="The notes application server.")
    parser.add_argument("--check-config", action="store_true", help="check the environment only")
    parser.add_argument("--openapi", action="store_true", help="print the OpenAPI document")
    parser.add_argument("--version", action="version", version=version())
    arguments = parser.parse_args()
    if arguments.openapi:
        from notes.operations import openapi_json

        sys.stdout.write(openapi_json().decode() + "\n")
        return
    try:
        settings = load(os.environ)
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        sys.exit(2)
    if arguments.check_config:
        print("The configuration is sound.")
        return
    from notes import log
    from notes.server import serve

    log.configure()
    sys.exit(serve(settings))


def _stop_early(_: int, __: FrameType | None) -> None:
    """A stop that comes before the server listens for it: there is nothing to finish yet.

    At once, since an exception could be taken for a failure of the import that it cuts short. And
    told to be one: the first process of a container does not get the signals it has not asked for.
    """
    os._exit(0)


if __name__ == "__main__":
    main()
