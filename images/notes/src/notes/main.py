"""The command: `notes` serves; `notes --check-config` only checks the configuration.

Exit codes: 0 stopped by a signal, or the configuration is valid; 2 the configuration is invalid or
the database's state does not allow a start, with one line for each reason.
"""

import os
import signal
import sys
from types import FrameType

# Other modules are imported after the signal handler is set: that takes a second or two.


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
        from notes.routes import openapi_json

        sys.stdout.write(openapi_json().decode() + "\n")
        return
    try:
        settings = load(os.environ)
    except ConfigError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        sys.exit(2)
    if arguments.check_config:
        print("The configuration is valid.")
        return
    from notes import log
    from notes.server import serve

    log.configure()
    sys.exit(serve(settings))


def _stop_early(_: int, __: FrameType | None) -> None:
    """Exits at once on a signal that comes before the server handles signals.

    There is no request to finish yet. It does not raise an exception, since that could look like a
    failed import. Without a handler, the first process of a container would not get the signal.
    """
    os._exit(0)


if __name__ == "__main__":
    main()
