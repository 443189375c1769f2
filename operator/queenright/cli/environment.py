"""Settings from the process's environment, with their problems as lines for people."""

from __future__ import annotations

import os
from collections.abc import Mapping

from queenright.cli.exit_codes import USAGE, CommandError
from queenright.settings import Settings, SettingsError, read_settings


def settings_from_environment(overrides: Mapping[str, str | None] | None = None) -> Settings:
    """Return the settings of ``os.environ``, with ``overrides`` by variable (None leaves it)."""
    given = {name: value for name, value in (overrides or {}).items() if value is not None}
    try:
        return read_settings({**os.environ, **given})
    except SettingsError as error:
        raise CommandError("\n".join(error.problems), USAGE) from error
