"""A question is answered once for one situation, and anew for every other one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from queenright.core.observed import Engine, LiveService, SwarmState, Task
from queenright.core.planning.service_context import Answers, answered_once
from queenright.core.swarm.objects import Service
from tests.fakes.files import EPOCH
from tests.fakes.loading import judged
from tests.fakes.tasks import FakeTask
from tests.support.builders import FILE, MANIFEST

ASKED: list[tuple[str, str]] = []


@dataclass(frozen=True)
class ServiceContext:
    name: str
    answers: Answers = field(default_factory=dict, init=False, compare=False)


@answered_once
def shouted(context: ServiceContext, word: str, end: str = "!") -> str:
    ASKED.append((context.name, word + end))
    return f"{context.name}: {word}{end}"


@answered_once
def whispered(context: ServiceContext, word: str) -> str:
    return f"{context.name}: ({word})"


def test_the_same_question_is_answered_once() -> None:
    ASKED.clear()
    context, word = ServiceContext("one"), "hoo"
    assert [shouted(context, word) for _ in range(3)] == ["one: hoo!"] * 3
    assert ASKED == [("one", "hoo!")]


def test_another_situation_argument_or_function_is_another_question() -> None:
    context, word = ServiceContext("one"), "hoo"
    assert shouted(context, word) == "one: hoo!"
    assert shouted(context, word, end="?") == "one: hoo?"
    assert shouted(context, "ha") == "one: ha!"
    assert shouted(replace(context, name="two"), word) == "two: hoo!"
    assert whispered(context, word) == "one: (hoo)"


def test_arguments_that_are_gone_are_not_taken_for_new_ones() -> None:
    context = ServiceContext("one")
    for number in range(2000):
        assert shouted(context, f"word {number}") == f"one: word {number}!"


def test_of_two_objects_with_one_name_the_first_counts() -> None:
    first, second = (LiveService(f"id{n}", n, Service("web", "image")) for n in (1, 2))
    swarm = SwarmState(Engine(), services=(first, second))
    assert swarm.service("web") is first
    assert swarm.service("db") is None
    assert replace(swarm, services=(second,)).service("web") is second


def test_tasks_are_told_in_the_order_in_which_they_were_read() -> None:
    tasks = tuple(
        Task(f"t{n}", "b" if n % 2 else "a", "node", "running", "running", EPOCH) for n in range(5)
    )
    swarm = SwarmState(Engine(), tasks=tasks)
    assert [task.id for task in swarm.tasks_of("a")] == ["t0", "t2", "t4"]
    assert [*swarm.tasks_of("c")] == []


def test_a_modelled_task_shows_every_change_of_it() -> None:
    task = FakeTask("t1", "svc", Service("web", "image"), 0)
    first = task.snapshot()
    assert task.snapshot() is first
    for name, value in (
        ("node_id", "n1"),
        ("state", "running"),
        ("desired", "shutdown"),
        ("at_s", 3.0),
        ("error", "broken"),
        ("exit_code", 1),
    ):
        before = task.snapshot()
        setattr(task, name, value)
        assert task.snapshot() != before, name
    assert replace(task, id="t2").snapshot().id == "t2"


def test_each_reading_of_a_text_gives_documents_of_its_own() -> None:
    files = {"a.yaml": "kind: PostgresCluster\n"}
    assert judged(files).problems == judged(files).problems != ()
    (one,), (other,) = (judged({FILE: MANIFEST}).documents for _ in range(2))
    assert one == other
    assert one is not other
