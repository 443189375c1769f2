"""`status` of many clusters: the worst first, counts, one line for what is converged."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest

from queenright.cli import overview, read_only
from queenright.cli.commands import status as command
from queenright.cli.console import Output
from queenright.cli.exit_codes import USAGE, CommandError
from queenright.core.actions import CreateService
from queenright.core.planning.conditions import Shown
from queenright.core.planning.plan import Hold, Plan, Refusal
from queenright.core.planning.status import Line, Lines, PlainStatus
from queenright.core.swarm.objects import Service

BLOCK = Lines((Line("Proxies", "both answer"),))
CREATE = CreateService(service=Service("x", "i"), reason="missing")
WAITS = Hold("x/waits", "waits")
NEEDED = Hold("x/needs", "needs a person", wants_attention=True)


def cluster(name: str, plan: Plan, *, is_compared: bool = True) -> PlainStatus:
    return PlainStatus(name, plan, (BLOCK,), is_compared)


def converged(number: int) -> list[Shown]:
    return [(cluster(f"c{n}", Plan(f"c{n}", "d")), None) for n in range(number)]


ODD: Sequence[Shown] = (
    (cluster("new", Plan("new", "d", (CREATE,))), None),
    (cluster("live", Plan("live", "d"), is_compared=False), None),
    (cluster("slow", Plan("slow", "d", (), (WAITS,))), None),
    (cluster("stuck", Plan("stuck", "d", (CREATE,), (WAITS, NEEDED))), None),
    (cluster("bent", Plan("bent", "d", (CREATE,))), Refusal("guard", "no")),
)


def seen(found: Sequence[Shown]) -> command.Seen:
    return command.Seen({"PostgresCluster": found}, read_only.Written(()), ())


def shown(found: Sequence[Shown]) -> list[str]:
    stream = io.StringIO()
    command.show(Output(stream, is_terminal=False, width=120), seen(found))
    return stream.getvalue().splitlines()


def test_the_worst_of_a_thousand_come_first_and_the_converged_have_a_line_each() -> None:
    lines = shown([*converged(995), *ODD])
    assert lines[0] == "All  2 needs you, 1 held, 1 to do, 1 not compared, 995 converged"
    headings = [line.split()[1] for line in lines if line.startswith("Cluster ")]
    assert headings[:6] == ["stuck", "bent", "slow", "new", "live", "c0"]
    assert len(headings) == 1000
    assert sum("both answer" in line for line in lines) == len(ODD)
    assert len(lines) < 1100


def test_a_few_are_shown_whole_and_one_has_no_count() -> None:
    assert sum("both answer" in line for line in shown(converged(10))) == 10
    assert shown(converged(1))[0] == "Cluster c0  converged"


def test_one_cluster_is_shown_whole_and_an_unknown_name_is_an_error_with_the_near_one() -> None:
    many = seen([*converged(20), *ODD])
    found = command.narrowed(many, "c7")
    assert [one.name for one, _ in found.found["PostgresCluster"]] == ["c7"]
    assert not overview.is_one_line(found.found, found.found["PostgresCluster"][0])
    with pytest.raises(CommandError, match='did you mean "stuck"') as failed:
        command.narrowed(many, "stuk")
    assert failed.value.code == USAGE
    assert command.narrowed(many, None) is many
