"""An upgrade and a new password of the notes application: the order of steps, the fate of a version
that does not run, and an edge whose clients notice nothing.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import psycopg
import pytest

from tests.e2e.notes_client import WEB, secrets_of
from tests.e2e.running_operator import QUICK_RESYNC_S, RunningOperator
from tests.e2e.swarm_facts import (
    MEMBER_NODES,
    connect,
    container_of,
    eventually,
    is_whole,
    quick_manifest,
    read_secret,
)
from tests.e2e.upgraded_notes import DUMP_NODE, Notes, jobs, variant
from tests.lab.lab import Lab
from tests.lab.product_images import publish

pytestmark = [pytest.mark.lab, pytest.mark.images]

QUIET_S = 3
"""The time for which the load goes on after a change is done."""


@pytest.fixture(scope="module")
def notes(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notes]:
    images = publish(lab.registry, ["member", "proxy", "notes", "edge"], lab.settings)
    lab.reset()
    first = images["notes"]
    operator = RunningOperator(lab, tmp_path_factory.mktemp("operator"), resync_s=QUICK_RESYNC_S)
    operator.write(quick_manifest(lab))
    made = {"member": images["member"], "first": first}
    found = Notes(lab, operator, made, images["edge"])
    found.write("first")
    with operator:  # the further images are made while the first one is deployed
        broken = 'CMD ["sh", "-c", "sleep 1; echo out of order >&2; exit 7"]'
        made["second"] = variant(lab, first, "9.0.2", "LABEL version=2")
        made["third"] = variant(lab, first, "9.0.3", "LABEL version=3")
        made["broken"] = variant(lab, first, "9.0.666", broken)
        made["deaf"] = variant(lab, first, "9.0.667", 'CMD ["sleep", "3600"]')
        eventually(lambda: found.runs("first"), "both replicas", 240)
        operator.wait_converged(240)
        yield found
        said = "".join(operator.lines) + specifications(lab)
        for secret in passwords(lab):
            assert secret not in said


def specifications(lab: Lab) -> str:
    """All that the swarm shows of services and configs: environment, arguments, labels."""
    found = ""
    for kind in ("service", "config"):
        ids = lab.manager.docker(kind, "ls", "-q").stdout.split()
        found += lab.manager.docker(kind, "inspect", *ids).stdout
    return found


def passwords(lab: Lab) -> list[str]:
    """Return the values of the application's own secrets, and the superuser's."""
    found = [read_secret(lab, "pg_superuser_pw")]
    for node in lab.nodes:
        container = container_of(node, WEB)
        if container:
            files = [f"/run/secrets/{name}" for name in ("app_database_url", "app_encryption_key")]
            texts = [node.docker("exec", container, "cat", file).stdout for file in files]
            url, key = (text.strip() for text in texts)
            found += [key, unquote(url.partition("@")[0].rpartition(":")[2])]
    assert len(found) > 2
    return found


@pytest.fixture
def settled(notes: Notes) -> Notes:
    eventually(lambda: is_whole(notes.lab), "a whole cluster", 120)
    return notes


def test_another_version_comes_after_a_dump_that_was_read_back(settled: Notes) -> None:
    notes = settled
    with notes.load() as load:
        began = time.monotonic()
        notes.write("second")
        # Whoever is killed while the dump is taken goes on with this very dump.
        eventually(lambda: jobs(notes.lab), "the dump's job", 60)
        notes.operator.stop(signal.SIGKILL)
        notes.operator.start()
        eventually(lambda: notes.runs("second"), "the second version", 180)
        took_s = time.monotonic() - began
        time.sleep(QUIET_S)
    print(f"dumped and replaced in {took_s:.1f} s; {load.summary}")
    assert load.count > 100
    assert load.failed == []
    (name,) = notes.dumps()
    assert re.fullmatch(r"notes-\d{8}T\d{6}Z-.+\.dump", name)
    told = [text for text in notes.reasons("label-config/notes_application") if name in text]
    assert told, "the log names the dump"
    assert re.search(r"\(\d+[KM]?, \d+ entries read back\) in volume notes_dumps on node4", told[0])
    listed = notes.lab.node(DUMP_NODE).docker(
        "run", "--rm", "--user", "0:0", "-v", "notes_dumps:/dumps:ro",
        "--entrypoint", "pg_restore", notes.member_image, "--list", f"/dumps/{name}",
    )  # fmt: skip
    assert "TABLE DATA public" in listed.stdout
    eventually(lambda: not jobs(notes.lab), "the job to be removed", 60)


@pytest.mark.parametrize(
    ("image", "why", "good"),
    [("broken", "non-zero exit (7)", "third"), ("deaf", "unhealthy container", "first")],
)
def test_a_version_that_does_not_run_is_taken_back_and_not_tried_again(
    settled: Notes, image: str, why: str, good: str
) -> None:
    notes = settled
    if notes.present == image:  # the first try ended with it
        notes.write(good)
        eventually(lambda: notes.runs(good), "a good version", 180)
    before = notes.present
    with notes.load() as load:
        began = time.monotonic()
        notes.write(image)
        eventually(
            lambda: any("rolled back" in text for text in notes.operator.holds().values()),
            "the operator to say so",
            180,
        )
        eventually(lambda: notes.runs(before), "the former version again", 120)
        took_s = time.monotonic() - began
        time.sleep(QUIET_S)
    print(f"tried and taken back in {took_s:.1f} s; {load.summary}")
    assert load.failed == []
    stories = [text for text in notes.reasons("label-config") if "rolled back" in text]
    story = [text for text in stories if notes.images[image] in text][-1]
    assert why in story
    tried = len(notes.reasons("update-service/notes_web"))
    notes.operator.stop()
    notes.operator.start()
    held = "update-service/notes_web"
    notes.operator.wait_for(
        lambda: "not tried again" in notes.operator.holds().get(held, ""), "the hold, remembered"
    )
    looks = len(list(notes.operator.passes()))
    notes.operator.wait_for(
        lambda: len(list(notes.operator.passes())) > looks + 3, "three more passes, and one begun"
    )
    assert len(notes.reasons("update-service/notes_web")) == tried
    assert notes.runs(before)
    notes.write(good)
    eventually(lambda: notes.runs(good), "a good version", 180)
    notes.operator.wait_for(
        lambda: not any("rolled back" in text for text in notes.operator.holds().values()),
        "nothing to be said of it any more",
    )


def logins(lab: Lab) -> dict[str, tuple[bool, bool, int]]:
    """Roles of the application: whether each may log in, has a password, and how many have."""
    with connect(lab, MEMBER_NODES[0]) as connection:
        found = connection.execute(
            "SELECT rolname, rolcanlogin, rolpassword IS NOT NULL, (SELECT count(*) FROM"
            " pg_stat_activity WHERE usesysid = r.oid) FROM pg_authid r WHERE rolname ~ '^notes'"
        ).fetchall()
    return {name: (login, password, sessions) for name, login, password, sessions in found}


def test_the_password_changes_while_the_application_runs(settled: Notes) -> None:
    notes = settled
    before = logins(notes.lab)
    (old,) = (name for name, (login, _, _) in before.items() if login)
    url = secrets_of(notes.lab, WEB)["app_database_url"]
    rotated = "{cluster: main, passwordSecret: notes_db_password_2}"
    with notes.load() as load:
        began = time.monotonic()
        text = (notes.operator.manifests / "notes.yaml").read_text()
        notes.operator.write(text.replace("{cluster: main}", rotated), "notes.yaml")
        eventually(
            lambda: logins(notes.lab).get(old) == (False, False, 0), "the old one's end", 240
        )
        took_s = time.monotonic() - began
        time.sleep(QUIET_S)
    print(f"the password changed in {took_s:.1f} s; {load.summary}")
    assert load.failed == []
    after = logins(notes.lab)
    (new,) = (name for name, (login, _, _) in after.items() if login)
    assert new != old
    assert after[new][2] > 0
    assert after["notes"] == (False, False, 0)
    assert secrets_of(notes.lab, WEB)["app_database_url"] != url
    with connect(notes.lab, MEMBER_NODES[0]) as connection:
        databases = connection.execute(
            "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'notes'"
        ).fetchall()
    assert databases == [("notes",)]
    assert foreign_tables(notes.lab) == []


def foreign_tables(lab: Lab) -> list[str]:
    """The application's tables that somebody else than the owner of its database owns."""
    with psycopg.connect(
        host=lab.node(MEMBER_NODES[0]).address,
        port=5000,
        user="postgres",
        password=read_secret(lab, "pg_superuser_pw"),
        dbname="notes",
    ) as connection:
        found = connection.execute(
            "SELECT tablename, tableowner FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
    assert len(found) > 5
    return [str(name) for name, owner in found if owner != "notes"]


def test_a_dump_that_fails_keeps_the_version_unless_the_file_says_otherwise(
    settled: Notes,
) -> None:
    notes = settled
    database = "{cluster: main, passwordSecret: notes_db_password_2}"

    before = notes.present
    after = "second" if before == "third" else "third"

    def write(dump: str) -> None:
        notes.write(after, f"  upgrade: {{dump: {dump}}}\n")
        path: Path = notes.operator.manifests / "notes.yaml"
        notes.operator.write(path.read_text().replace("{cluster: main}", database), "notes.yaml")

    write("{mode: required, path: /nowhere}")
    notes.operator.wait_for(
        lambda: (
            "the dump before it failed" in notes.operator.holds().get(f"update-service/{WEB}", "")
        ),
        "the upgrade to be held",
        90,
    )
    assert notes.runs(before)
    write("{mode: attempted, path: /nowhere}")
    eventually(lambda: notes.runs(after), "the version, without a dump", 180)
