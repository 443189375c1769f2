"""The container's health check: asks the S3 server for its own.

A full volume is no fault of the container: what it has can be read and removed.
"""

import http.client
import os
import ssl
import sys
from typing import NoReturn

from .settings import CERTIFICATE, SECRETS

TIMEOUT_S = 8.0


def main() -> NoReturn:
    """End with 0 if the server answers, and with 1 and a line otherwise."""
    port = int(os.environ.get("REPOSITORY_PORT") or 0)
    connection: http.client.HTTPConnection
    if (SECRETS / CERTIFICATE).exists():
        # It is for the name by which others reach this server, not for the loopback.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            "127.0.0.1", port, timeout=TIMEOUT_S, context=context
        )
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/healthcheck")
        status = connection.getresponse().status
    except OSError as error:
        print(f"the S3 server does not answer ({error})", file=sys.stderr)
        sys.exit(1)
    sys.exit(0 if status == http.client.OK else 1)
