"""``queenright edit-config``: change Patroni's cluster-wide settings by hand."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import yaml

from queenright.cli.cluster_session import Session, on_cluster
from queenright.cli.commands.pause import settings_now
from queenright.cli.console import one_line
from queenright.cli.exit_codes import FAILURE, INVALID, OK, USAGE, CommandError
from queenright.cli.options import GivenPath, cluster_argument, force_option, manifests_option
from queenright.cli.prompts import confirm, refuse_without_terminal
from queenright.cli.read_only import STDIN
from queenright.core.audit.record import Conflict, Failed
from queenright.core.audit.redaction import redact_text
from queenright.core.kinds.postgres_cluster.patroni.config_edit import (
    merge_patches,
    needed,
    owned_fields,
    patch_between,
    patch_for,
    refusals,
)
from queenright.core.kinds.postgres_cluster.patroni.settings_patch import (
    changed_keys,
    settings_patch,
)
from queenright.core.manifest.suggestions import UnfitValueError
from queenright.core.manifest.yaml_reader import read_yaml

HEAD = """\
# Patroni's settings of cluster {name}. Save to change them; leave the editor without saving to
# change nothing. The operator restores settings that the file owns (marked in the list of changes).
"""
EPILOG = """\b
With neither --set nor --apply the settings open in $EDITOR. Every change is
shown before it is made, and made only if nobody has changed the same fields
meanwhile. A null removes a field. The operator restores settings that the
manifests own: change them there.

\b
Exit codes: 0 applied, or nothing to change; 1 not applied, 64 no terminal, or
            a wrong argument, 65 not YAML or files not valid,
            69 swarm not reachable

\b
Examples:
  queenright edit-config
  queenright edit-config --set postgresql.parameters.log_min_duration_statement=250
  queenright edit-config --set check_timeline=null --force
  queenright edit-config main --apply settings.yaml
"""


@click.command("edit-config", epilog=EPILOG)
@cluster_argument
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Set one field; may be repeated.",
)
@click.option(
    "--apply",
    "file",
    type=GivenPath(path_type=Path, allow_dash=True, dir_okay=False),
    help="Merge the settings in a YAML file; - is standard input.",
)
@force_option
@manifests_option
def edit_config(
    cluster: str | None,
    assignments: tuple[str, ...],
    file: Path | None,
    manifests: Path | None,
    *,
    force: bool,
) -> int:
    """Change Patroni's settings for the whole cluster."""
    patch = written_patch(assignments, file)
    if patch is None:
        refuse_without_terminal("use --set or --apply")

    async def act(live: Session) -> int:
        return await change_settings(live, patch, force=force)

    return on_cluster(manifests, cluster, "edit-config", act)


def written_patch(assignments: Sequence[str], file: Path | None) -> dict[str, Any] | None:
    """Return the patch of the arguments; None if they leave it to an editor."""
    if not assignments and file is None:
        return None
    patch: dict[str, Any] = {}
    if file is not None:
        patch = settings_in(*text_of(file))
    for assignment in assignments:
        patch = merge_patches(patch, assigned(assignment))
    return patch


def text_of(file: Path) -> tuple[str, str]:
    """Return the file's text, and its name for messages."""
    name = "<stdin>" if file == STDIN else str(file)
    try:
        raw = sys.stdin.buffer.read() if file == STDIN else file.read_bytes()
        return raw.decode("utf-8-sig"), name
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}", USAGE) from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise CommandError(f"{name}:{line}: is not UTF-8 text", INVALID) from error


def assigned(text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--set {text}: write FIELD=VALUE, such as ttl=20", USAGE)
    documents, problems = read_yaml("--set", value)
    complaints = [*problems, *(problem for one in documents for problem in one.problems)]
    if complaints or len(documents) > 1:
        why = complaints[0].message if complaints else "it is more than one document"
        raise CommandError(f"--set {name}: the value is not YAML: {why}", USAGE)
    try:
        return patch_for(name.strip(), documents[0].value if documents else None)
    except UnfitValueError as error:
        raise CommandError(f"--set: {error}", USAGE) from error


def settings_in(text: str, name: str) -> dict[str, Any]:
    """Return the mapping in a YAML text, read as a manifest is; CommandError with the line for
    anything else."""
    documents, problems = read_yaml(name, text)
    complaints = [*problems, *(problem for one in documents for problem in one.problems)]
    if complaints:
        raise CommandError("\n".join(map(str, complaints)), INVALID)
    found = [one.value for one in documents] or [{}]
    if len(found) > 1 or not isinstance(found[0], dict):
        line = documents[len(found) - 1].line
        raise CommandError(
            f"{name}:{line}: must be one mapping of settings, such as `ttl: 20`", INVALID
        )
    return found[0]


async def change_settings(live: Session, patch: Mapping[str, Any] | None, *, force: bool) -> int:
    view = await live.look()
    asked, found = await settings_now(live, view)
    if patch is None:
        patch = edited(live.document.name, found)
    patch = needed(found, patch)
    if problems := list(refusals(patch)):
        raise CommandError("\n".join(problems), USAGE)
    if not patch:
        click.echo("Nothing to change.")
        return OK
    show(found, patch, owned_fields(view.state.desired.settings, patch))
    confirm("Apply these changes?", force=force)
    step = settings_patch(
        view.state,
        asked,
        found,
        patch,
        aspect="edit-config",
        reason=f"asked for by {live.command}",
    )
    outcome = (await live.carry_out(view, [step])).tried[0][1]
    match outcome:
        case Conflict(error):
            raise CommandError(f"{error}: nothing was changed; start again", FAILURE)
        case Failed(error):
            raise CommandError(f"{error}; `queenright edit-config` shows what is set", FAILURE)
    click.echo("Applied.")
    return OK


def edited(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patch that a person makes in the editor; empty if it is left without saving."""
    text = HEAD.format(name=name) + yaml.safe_dump(dict(found), sort_keys=True, allow_unicode=True)
    saved = click.edit(text, extension=".yaml")
    if saved is None:
        return {}
    # An untouched value is read back exactly as it was, however the text spells it.
    return patch_between(settings_in(text, "settings.yaml"), settings_in(saved, "settings.yaml"))


def show(found: Mapping[str, Any], patch: Mapping[str, Any], owned: Sequence[str]) -> None:
    """Show each change on a line, and those that the operator will restore."""
    for change in changed_keys(found, patch):
        mark = "  (the file owns it)" if change.path in owned else ""
        click.echo(one_line(redact_text(f"{change.path}: {change.old} -> {change.new}{mark}")))
    if owned:
        click.echo(
            "The operator restores what the file owns: change it in the manifest instead.",
            err=True,
        )
