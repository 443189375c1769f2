"""The last good state stays in force, whatever becomes of the files."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from queenright.core.audit.record import Trigger
from queenright.core.kinds.load import load
from queenright.core.manifest.document import Loaded
from queenright.engine.document_store import DocumentStore
from tests.fakes.virtual_loop import in_place, run_virtual
from tests.fakes.world import World
from tests.sim.neighbour import SIDE, SIDE_FILE
from tests.support.builders import FILE, MANIFEST, manifest

EDITED = manifest(deletionPolicy="remove")
SPOILT = {
    "half of it": MANIFEST[:150],
    "empty": "",
    "broken YAML": "spec: [",
    "an unknown field": manifest(colour="red"),
    "a bad value": MANIFEST.replace("10.77.0.0/24", "lan"),
    "one good document and one bad": MANIFEST + "---\nkind: Nothing\n",
}


def state_of(world: World) -> DocumentStore:
    return DocumentStore(world.ports, in_place)


@pytest.mark.parametrize("text", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_file_changes_nothing_but_what_is_told(text: str) -> None:
    async def main() -> None:
        world = World()
        state = state_of(world)
        await state.refresh()
        good = state.documents
        world.manifests.write(FILE, text)
        trigger = await state.refresh()
        assert state.documents == good
        assert state.is_stale
        assert state.problems
        assert all(problem.file == FILE for problem in state.problems)
        assert trigger.detail == "not valid; the last good state stays in force"
        assert world.last_good.saved == {FILE: MANIFEST}
        world.manifests.write(FILE, EDITED)
        await state.refresh()
        assert (state.is_stale, state.problems) == (False, ())
        assert state.documents[0].resource.spec.deletion_policy == "remove"

    run_virtual(main)


def test_a_file_that_vanished_or_is_half_written_removes_no_cluster() -> None:
    async def main() -> None:
        world = World()
        state = state_of(world)
        await state.refresh()
        world.manifests.remove(FILE)
        await state.refresh()
        assert [document.name for document in state.documents] == ["main"]
        world.manifests.write(FILE, EDITED)
        world.manifests.broken = True
        await state.refresh()
        assert state.documents[0].resource.spec.deletion_policy == "retain"

    run_virtual(main)


def test_an_edit_is_told_by_field_file_and_line() -> None:
    async def main() -> None:
        world = World()
        state = state_of(world)
        await state.refresh()
        world.manifests.write(FILE, EDITED)
        line = EDITED.count("\n")
        expected = Trigger("file", "spec.deletionPolicy: retain -> remove", FILE, line)
        assert await state.refresh() == expected
        world.manifests.write(FILE, EDITED + "# a comment\n")
        assert await state.refresh() == Trigger("file", "rewritten without a change of meaning")

    run_virtual(main)


def test_a_restart_with_a_spoilt_file_takes_up_the_last_good_state() -> None:
    async def main() -> None:
        world = World()
        await state_of(world).refresh()
        world.manifests.write(FILE, "spec: [")
        restarted = state_of(world)
        await restarted.restore()
        await restarted.refresh()
        assert restarted.is_known
        assert [document.name for document in restarted.documents] == ["main"]

    run_virtual(main)


def test_a_fault_in_judging_the_files_leaves_the_last_good_state_in_force() -> None:
    """The fault comes at an edit, and at a start on the same files."""

    def stumbles(files: Mapping[str, str]) -> Loaded:
        if "retain" in files[FILE]:
            raise OverflowError("a fault")
        return load(files)

    async def main() -> None:
        world = World()
        state = DocumentStore(world.ports, in_place, stumbles)
        await state.refresh()
        world.manifests.write(FILE, manifest(deletionPolicy="retain"))
        trigger = await state.refresh()
        assert trigger.detail == "not valid; the last good state stays in force"
        assert [document.name for document in state.documents] == ["main"]
        (problem,) = state.problems
        assert str(problem).startswith(f"{FILE}:1: file: can't be checked")
        restarted = DocumentStore(world.ports, in_place, stumbles)
        await restarted.restore()
        await restarted.refresh(Trigger("start"))
        assert [document.name for document in restarted.documents] == ["main"]
        assert restarted.is_stale

    run_virtual(main)


def test_without_any_good_state_nothing_is_known() -> None:
    async def main() -> None:
        world = World()
        world.manifests.write(FILE, "spec: [")
        state = state_of(world)
        await state.restore()
        await state.refresh()
        assert (state.is_known, state.documents) == (False, ())

    run_virtual(main)


async def test_files_are_read_in_a_thread_unless_told_otherwise() -> None:
    world = World()
    state = DocumentStore(world.ports)
    await state.refresh()
    assert await state.fingerprint() == state.read_fingerprint
    assert state.is_known


def test_another_files_edit_takes_effect_beside_a_spoilt_one() -> None:
    async def main() -> None:
        world = World()
        world.manifests.files[SIDE_FILE] = SIDE
        state = state_of(world)
        await state.refresh()
        world.manifests.write(FILE, "spec: [")
        world.manifests.write(SIDE_FILE, SIDE + "  deletionPolicy: remove\n")
        trigger = await state.refresh()
        assert (trigger.file, state.is_stale) == (SIDE_FILE, True)
        policies = {one.name: one.resource.spec.deletion_policy for one in state.documents}
        assert policies == {"main": "retain", "side": "remove"}
        assert world.last_good.saved[FILE] == MANIFEST
        again = await state.refresh()
        assert again.detail.startswith("not valid")

    run_virtual(main)


@pytest.mark.parametrize("left", ["vanished", "moved"])
def test_no_document_leaves_while_a_file_is_spoilt(left: str) -> None:
    """It may have been moved to the file that is not valid yet."""

    async def main() -> None:
        world = World()
        world.manifests.files[SIDE_FILE] = SIDE
        state = state_of(world)
        await state.refresh()
        world.manifests.write(FILE, MANIFEST + "---\n" + SIDE[:60])
        if left == "vanished":
            world.manifests.remove(SIDE_FILE)
        else:
            world.manifests.write(SIDE_FILE, SIDE.replace("name: side", "name: other"))
        await state.refresh()
        assert {one.name for one in state.documents} == {"main", "side"}

    run_virtual(main)
