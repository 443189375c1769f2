"""Reads the variables with which the server starts, and the mounted secret with the credentials.

Invariant: the secret key goes to one file of this container's own memory, mode 0600, and nowhere
else. No message has a part of the credentials.
"""

import configparser
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATA = Path("/data")
SECRETS = Path("/run/secrets")
CREDENTIALS, CERTIFICATE = "backup_credentials", "repository_certificate"
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
#: Swift's own form of a user: account and name.
ACCESS_KEY = re.compile(r"([A-Za-z0-9-]{1,64}):([A-Za-z0-9-]{1,64})")
SECRET_KEY = re.compile(r"[A-Za-z0-9+/=._~-]{16,128}")
_TRIED = "user.queenright.tried"


class SettingsError(Exception):
    """The server can't be started so; the message is one line with what to do."""


@dataclass(frozen=True)
class Settings:
    """Port and bucket, the one user with his key, and the certificate's file, if there is one."""

    port: int
    bucket: str
    account: str
    user: str
    key: str
    data: Path = DATA
    certificate: Path | None = None


def read_settings(
    environ: Mapping[str, str], secrets: Path = SECRETS, data: Path = DATA
) -> Settings:
    """Return the settings; SettingsError where one is missing or wrong."""
    port, bucket = environ.get("REPOSITORY_PORT", ""), environ.get("REPOSITORY_BUCKET", "")
    if not port.isdecimal() or not 1024 <= int(port) <= 65535:
        raise SettingsError("environment variable REPOSITORY_PORT is not a port from 1024 to 65535")
    if not BUCKET.fullmatch(bucket):
        raise SettingsError("environment variable REPOSITORY_BUCKET is not a bucket's name")
    account, user, key = read_credentials(secrets / CREDENTIALS)
    certificate = secrets / CERTIFICATE
    found = certificate if certificate.exists() else None
    return Settings(int(port), bucket, account, user, key, data, found)


def read_credentials(file: Path) -> tuple[str, str, str]:
    """Return account, user and key from a credentials file of Amazon's form; SettingsError."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(file.read_text(encoding="utf-8"))
        found = parser["default"]
        access, key = found["aws_access_key_id"].strip(), found["aws_secret_access_key"].strip()
    except OSError:
        raise SettingsError(f"secret {file.name} is missing or cannot be read: {file}") from None
    except (configparser.Error, KeyError, UnicodeDecodeError):
        # The parser's own message repeats lines of the file.
        raise SettingsError(
            f"secret {file.name} is not a credentials file with [default], aws_access_key_id and "
            "aws_secret_access_key; correct the secret"
        ) from None
    named = ACCESS_KEY.fullmatch(access)
    if named is None:
        raise SettingsError(
            f"secret {file.name}: aws_access_key_id is not two words of letters, digits and "
            "hyphens with a colon between them, such as backup:main; correct the secret"
        )
    if not SECRET_KEY.fullmatch(key):
        raise SettingsError(
            f"secret {file.name}: aws_secret_access_key is not 16 to 128 letters, digits and "
            "+ / = . _ ~ -; correct the secret"
        )
    return named[1], named[2], key


def check_volume(data: Path) -> None:
    """Try what the server needs of its volume; SettingsError where that is missing."""
    tried = data / ".tried"
    try:
        tried.write_bytes(b"")
        os.setxattr(tried, _TRIED, b"1")
        tried.unlink()
    except OSError as error:
        raise SettingsError(
            f"the volume at {data} cannot be used ({error.strerror}); it needs a file system with "
            f"extended attributes (ext4, XFS), and has to belong to user {os.geteuid()}"
        ) from None
