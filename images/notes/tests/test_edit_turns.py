"""Tests that an editor is not refused again and again beside one that writes without a pause."""

import threading
import time
from collections.abc import Callable

from tests.editing import Editor, typed
from tests.postgres import Postgres
from tests.replica import Client, Replica
from tests.workspace import page, space

Start = Callable[..., Replica]
WORDS = 8
#: Once is usual; a second time if an edit of the other comes between the refusal and the turn.
MOST = 4
#: A browser's rebase, and its way to the server: longer than an edit of the other takes.
PAUSE_S = 0.08


def behind(editor: Editor, current: dict[str, object]) -> None:
    """Goes to the last edit; steps at the beginning of the text need no rebase."""
    editor.seq, editor.id = int(str(current["seq"])), str(current["id"])


def write_on(editor: Editor, is_over: threading.Event) -> int:
    """Sends edits without a pause; returns the number of accepted ones."""
    made = 0
    while not is_over.is_set():
        answer = editor.send(editor.body(typed("x")))
        assert answer.status_code in {200, 409}, answer.text
        made += answer.status_code == 200
        behind(editor, answer.json().get("current") or answer.json())
    return made


def refusals(editor: Editor) -> int:
    """Sends one edit until it is accepted; returns how often it was refused."""
    count = 0
    while count <= 10 * MOST:
        time.sleep(PAUSE_S)
        answer = editor.send(editor.body(typed("S")))
        if answer.status_code == 200:
            behind(editor, answer.json())
            return count
        assert answer.status_code == 409, answer.text
        behind(editor, answer.json()["current"])
        count += 1
    return count


def test_the_next_edit_of_a_refused_editor_is_waited_for_on_each_replica(
    own_replica: Start,
) -> None:
    one = own_replica()
    other = own_replica(one.database_url)
    with one.client() as slow, other.client() as busy:
        node = page(slow.set_up(), space(slow), markdown="hello\n")
        busy.log_in()
        made = list[int]()
        is_over = threading.Event()
        writer = Editor(busy, node)
        thread = threading.Thread(target=lambda: made.append(write_on(writer, is_over)))
        thread.start()
        try:
            editor = Editor(slow, node)
            counts = [refusals(editor) for _ in range(WORDS)]
        finally:
            is_over.set()
            thread.join()
    assert max(counts) <= MOST, counts
    assert made
    assert made[0] > WORDS


def test_an_unused_turn_ends_and_does_not_come_again_at_once(
    admin: Client, postgres: Postgres
) -> None:
    node = page(admin, space(admin), markdown="hello\n")
    query = f"SELECT turn_of::text, turn_until FROM page_logs WHERE node_id = '{node}'"
    writer, gone, other = (Editor(admin, node) for _ in range(3))
    writer.write(typed("a"))
    assert gone.send(gone.body(typed("b"))).status_code == 409
    first = postgres.sql(query, "main")
    assert first[0][0] == gone.name
    writer.write(typed("c"))
    assert gone.send(gone.body(typed("b"))).status_code == 409
    assert postgres.sql(query, "main") == first, "the editor did not use its turn"
    answer = other.send(other.body(typed("d")))
    assert postgres.sql(query, "main")[0][0] == other.name
    behind(other, answer.json()["current"])
    other.write(typed("d"))
    assert postgres.sql(query, "main")[0][1] is None, "the turn was used"
