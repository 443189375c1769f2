"""A member that waits with a lost Raft log: what it answers, says and never does."""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import httpx
import pytest
from pysyncobj.journal import FileJournal

from images.member.queenright_member.fence import any_began
from images.member.queenright_member.raft_anew import BEGAN_TAG
from images.member.queenright_member.raft_files import RaftFiles
from images.member.queenright_member.raft_repair import repair
from images.member.queenright_member.raft_status import Node, NodeStatus
from images.member.queenright_member.raft_wait import answer, serve, waiting
from queenright.adapters.patroni.http import PatroniHttp
from queenright.core.observed import Known, MemberStatus
from queenright.core.observed import patroni as observed

NUMBER = "0123456789ab"
END = {"system": "7711809401613697059", "timeline": 3, "location": 67296656, "history": "ab12"}
OWN, PARTNERS = "10.0.0.1:1", ("10.0.0.2:1", "10.0.0.3:1")


def unasked(address: str) -> NodeStatus | None:
    raise AssertionError(f"{address} is asked")


def configuration(directory: Path) -> Path:
    path = directory / "patroni.yml"
    path.write_text("scope: main\nname: member-1\nrestapi: {listen: '127.0.0.1:0'}\n")
    return path


def test_the_operator_reads_its_loss_as_it_reads_patroni(tmp_path: Path) -> None:
    body = answer(configuration(tmp_path), {**END, "number": NUMBER, "term": 4})
    server = serve(("127.0.0.1", 0), body)
    port = server.server_address[1]

    async def ask() -> object:
        return await PatroniHttp(5.0).status("127.0.0.1", port)

    try:
        found = anyio.run(ask)
        assert isinstance(found, Known), found
        status = found.value
        assert isinstance(status, MemberStatus)
        assert (status.scope, status.name, status.holds_lock) == ("main", "member-1", False)
        loss = status.raft_loss
        assert loss is not None
        assert (loss.number, loss.term, loss.timeline) == (NUMBER, 4, 3)
        assert (loss.location, loss.system, loss.why) == (67296656, END["system"], "")
        for path in ("/primary", "/replica", "/health", "/liveness", "/read-only"):
            assert httpx.get(f"http://127.0.0.1:{port}{path}", trust_env=False).status_code == 503
            for method in ("HEAD", "OPTIONS"):
                found = httpx.request(method, f"http://127.0.0.1:{port}{path}", trust_env=False)
                assert (found.status_code, found.content) == (503, b"")
    finally:
        server.shutdown()
        server.server_close()


def test_a_check_that_hangs_up_leaves_nothing_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = serve(("127.0.0.1", 0), answer(configuration(tmp_path), END))
    server.handle_error(socket.socket(), ("127.0.0.1", 1))
    server.shutdown()
    server.server_close()
    assert capfd.readouterr() == ("", "")


def test_the_line_in_the_log_tells_the_end_of_the_data_and_the_command() -> None:
    said = waiting(Node(OWN, PARTNERS, unasked, "member-1", True), NUMBER, END)
    assert "timeline 3; location 67296656" in said
    assert f"--env-add RAFT_RESET=anew:<that member>:{NUMBER} <service of member-1>" in said
    assert "\n" not in said


def test_what_was_told_to_be_lost_is_not_used_again(tmp_path: Path) -> None:
    """Others may have begun a log anew by that word. It can be read again after a reboot."""
    files = RaftFiles.of(tmp_path, OWN)
    FileJournal(str(files.journal)).add(b"\1", 1, 0)
    files.lost.write_text(NUMBER)
    waits = []

    def wait() -> NodeStatus:
        waits.append(True)
        raise TimeoutError

    node = Node(OWN, PARTNERS, lambda _: None, "member-1", True)
    with pytest.raises(TimeoutError):
        repair(files, node, "", limit_s=0.0, wait=wait)
    assert waits
    repair(files, node, f"anew:member-1:{NUMBER}", limit_s=0.0)
    assert not files.lost.exists()
    assert files.began.read_text() == NUMBER
    FileJournal(str(files.journal)).add(b"\1", 1, 0)  # Patroni starts
    repair(files, node, f"anew:member-1:{NUMBER}")
    assert files.began.exists()
    FileJournal(str(files.journal)).add(b"\1", 2, 3)
    repair(files, node, f"anew:member-1:{NUMBER}")
    assert not files.began.exists()


def test_a_member_that_has_a_log_is_kept_from_leading_once(tmp_path: Path) -> None:
    files = RaftFiles.of(tmp_path, OWN)
    FileJournal(str(files.journal)).add(b"\1", 1, 0)
    before = files.journal.read_bytes()
    node = Node(OWN, PARTNERS, unasked, "member-1", True)
    repair(files, node, f"fence:member-1:{NUMBER}")
    assert not files.fence.exists()
    for _ in range(2):
        repair(files, node, f"fence:member-2:{NUMBER}")
        assert files.journal.read_bytes() == before
    assert files.fence.exists()
    files.fence.unlink()  # it has streamed
    repair(files, node, f"fence:member-2:{NUMBER}")
    assert not files.fence.exists()


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_member_that_waited_and_starts_again_may_not_lead_where_others_began(
    tmp_path: Path, has_begun: bool
) -> None:
    """The others are a quorum by now, so that it need not wait."""
    files = RaftFiles.of(tmp_path, OWN)
    files.lost.write_text(NUMBER)
    first, second = PARTNERS
    voters = frozenset({OWN, *PARTNERS})
    found = {own: NodeStatus(own, first, 4, own == first, 9, 9, voters) for own in (first, second)}
    repair(files, Node(OWN, PARTNERS, found.get, "member-1", True), "", has_begun=lambda: has_begun)
    assert not files.lost.exists()
    assert files.fence.exists() is has_begun


def test_the_request_of_an_earlier_loss_ends_no_later_fence(tmp_path: Path) -> None:
    """It named this member to lead on then, and is in the service until the next one."""
    files = RaftFiles.of(tmp_path, OWN)
    files.lost.write_text(NUMBER)
    files.fence.write_text("member-2")  # of a loss before this one
    node = Node(OWN, PARTNERS, lambda _: None, "member-1", True)
    repair(files, node, f"anew:member-1:{NUMBER}", limit_s=0.0)
    assert not files.fence.exists()
    FileJournal(str(files.journal)).add(b"\1", 1, 0)
    files.fence.write_text("member-3")  # of the next one, in which this member joined the others
    repair(files, node, f"anew:member-1:{NUMBER}")
    assert files.fence.exists()


def test_a_first_start_without_data_waits_for_nobody(tmp_path: Path) -> None:
    repair(RaftFiles.of(tmp_path, OWN), Node(OWN, PARTNERS, unasked, "member-1", False), "")
    assert not [*tmp_path.iterdir()]


def test_a_partner_that_began_anew_is_seen_by_its_tag(tmp_path: Path) -> None:
    server = serve(("127.0.0.1", 0), b'{"state": "starting", "tags": {"queenright_began": "ab"}}')
    other = serve(("127.0.0.1", 0), b'{"state": "running", "tags": {"nofailover": false}}')
    try:
        assert any_began(["127.0.0.1:5010"], server.server_address[1])
        assert not any_began(["127.0.0.1:5010"], other.server_address[1])
    finally:
        for one in (server, other):
            one.shutdown()
            one.server_close()
    assert not any_began(["127.0.0.1:5010", "[::1]:5010"], server.server_address[1])


def test_image_and_operator_name_the_tags_alike() -> None:
    assert BEGAN_TAG == observed.BEGAN_TAG
