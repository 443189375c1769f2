"""A member that gives its bootstrap up takes its word in Raft back."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from images.member.queenright_member import bootstrap_key


class Dcs:
    """Patroni's view of Raft, whose `initialize` key is one of these at each look; a text of
    several words is an error."""

    def __init__(self, *keys: str | None) -> None:
        self.keys, self.removals = [*keys], 0

    def get_cluster(self) -> SimpleNamespace:
        key = self.keys.pop(0)
        if key and " " in key:
            raise RuntimeError(key)
        return SimpleNamespace(initialize=key)

    def cancel_initialization(self) -> bool:
        self.removals += 1
        return True


@pytest.mark.parametrize(
    ("keys", "removals"),
    [
        ([""], 1),
        (["no quorum yet", None, ""], 1),
        (["7000000000000000001"], 0),
        ([None] * bootstrap_key.TRIES, 0),
    ],
)
def test_the_word_that_a_member_bootstraps_is_taken_back_once(
    monkeypatch: pytest.MonkeyPatch, *, keys: list[str | None], removals: int
) -> None:
    dcs, asked = Dcs(*keys), list[dict[str, object]]()

    def get_dcs(config: dict[str, object]) -> Dcs:
        asked.append(config)
        return dcs

    monkeypatch.setitem(sys.modules, "patroni", ModuleType("patroni"))
    module = ModuleType("patroni.dcs")
    monkeypatch.setattr(module, "get_dcs", get_dcs, raising=False)
    monkeypatch.setitem(sys.modules, "patroni.dcs", module)
    bootstrap_key.give_up({"scope": "main"}, 0.0)
    assert (dcs.removals, dcs.keys) == (removals, [])
    assert asked == [{"scope": "main", "patronictl": True}]
