"""Properties of the plan for any settings in Patroni and any file."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.actions import PatchSettings
from queenright.core.kinds.postgres_cluster.desired.cluster import DesiredCluster
from queenright.core.kinds.postgres_cluster.patroni.config_diff import SettingsPatch, settings_patch
from queenright.core.kinds.postgres_cluster.state import ClusterState
from queenright.core.kinds.ruleset import first_refusal
from queenright.core.observed import Known, Observed, Unknown
from queenright.core.postgres.equal_settings import same_parameter
from queenright.core.postgres.parameters import Parameter, amount_of, parameters
from tests.support.builders import MEMBERS, NOW, desired, manifest, plan_for, swarm_of, three_nodes
from tests.support.examples import EXAMPLES

fast = settings(max_examples=4 * EXAMPLES, deadline=None, derandomize=EXAMPLES <= 80)

NOTE = "queenright_parameters"
FILES = st.sampled_from(
    [
        manifest(),
        manifest(patroni="{ttl: 60, usePgRewind: false}"),
        manifest(postgresql="{parameters: {work_mem: 8MB, max_connections: 300}}"),
        manifest(postgresql="{parameters: {log_lock_waits: on, huge_pages: 'off', my.x: 5}}"),
        manifest(postgresql="{accessRules: [host a b 192.168.20.0/24 scram-sha-256]}"),
    ]
)
SCALARS = st.one_of(
    st.integers(-5, 5000), st.booleans(), st.floats(allow_nan=False), st.text(max_size=8)
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.text(), SCALARS))
NAMES = st.sampled_from(
    ["work_mem", "Work_Mem", "max_connections", "log_lock_waits", "HUGE_PAGES", "jit", "my.x"]
)
KEYS = st.sampled_from(["ttl", "loop_wait", "maximum_lag_on_failover", "pause", "failsafe_mode"])
NOTED = st.lists(
    st.sampled_from(["log_lock_waits", "huge_pages", "jit", "jit@5", "x@y", "@", "work_mem"]),
    max_size=3,
).map(" ".join)


def state(wanted: DesiredCluster, observed: Observed) -> ClusterState:
    return ClusterState(wanted, swarm_of(observed), observed, NOW)


def due(text: str, found: Mapping[str, Any]) -> SettingsPatch:
    wanted = desired(text)
    return settings_patch(state(wanted, three_nodes(text=text)), found)


def patched(config: dict[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Merge as Patroni does (``patch_config``): by the text of a value, None removes, and a mapping
    that did not exist is taken as it is."""
    for name, value in data.items():
        if value is None:
            config.pop(name, None)
        elif name in config and isinstance(value, Mapping) and isinstance(config[name], dict):
            patched(config[name], value)
        elif name not in config or str(config[name]) != str(value):
            config[name] = copy.deepcopy(value)
    return config


@st.composite
def kept_settings(draw: st.DrawFn, text: str) -> dict[str, Any]:
    """The file's settings, with anything otherwise."""
    found = copy.deepcopy(dict(desired(text).settings))
    found.update(draw(st.dictionaries(KEYS, VALUES, max_size=3)))
    section = found["postgresql"]
    section["parameters"].update(draw(st.dictionaries(NAMES, VALUES, max_size=4)))
    for name in draw(st.lists(st.sampled_from(sorted(section["parameters"])), max_size=2)):
        section["parameters"].pop(name, None)
    section["pg_hba"] = draw(st.sampled_from([section["pg_hba"], [], section["pg_hba"][:3], "x"]))
    section["use_slots"] = draw(SCALARS)
    if draw(st.booleans()):
        found[NOTE] = draw(NOTED)
    lost = draw(st.sampled_from(["", "", "", "postgresql", "ttl"]))
    found.pop(lost, None)
    if draw(st.integers(0, 9)) == 0:
        found["postgresql"] = draw(VALUES)
    return found


WORLDS = FILES.flatmap(lambda text: st.tuples(st.just(text), kept_settings(text)))


def leaves(value: Mapping[str, Any], path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found: dict[tuple[str, ...], Any] = {}
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            found |= leaves(item, (*path, key))
        else:
            found[(*path, key)] = item
    return found


@given(WORLDS)
@fast
def test_a_patch_is_wanted_once(world: tuple[str, dict[str, Any]]) -> None:
    text, found = world
    first = due(text, found)
    after = patched(copy.deepcopy(found), first.patch)
    assert due(text, after).patch == {}, first.patch
    assert bool(first.patch) == bool(first.changes)
    assert None not in leaves(after).values()


@given(WORLDS)
@fast
def test_nothing_foreign_is_touched(world: tuple[str, dict[str, Any]]) -> None:
    """Every changed key is the file's, or was by the annotation."""
    text, found = world
    wanted = desired(text).settings
    noted = {word for word in str(found.get(NOTE) or "").split() if "@" not in word}
    names = {name.lower() for name in (*wanted["postgresql"]["parameters"], *noted)}
    patch = due(text, found).patch
    assert patch.keys() <= {*wanted, NOTE}
    section = patch.get("postgresql", {})
    assert section.keys() <= wanted["postgresql"].keys()
    assert {name.lower() for name in section.get("parameters", {})} <= names


@given(WORLDS)
@fast
def test_every_key_that_is_written_was_looked_at(world: tuple[str, dict[str, Any]]) -> None:
    text, found = world
    patch = due(text, found)

    def check(wrote: Mapping[str, Any], saw: Mapping[str, Any], there: Mapping[str, Any]) -> None:
        assert wrote.keys() == saw.keys()
        for key, value in wrote.items():
            present = there.get(key)
            if isinstance(value, Mapping) and isinstance(present, Mapping):
                check(value, saw[key], present)
            else:
                assert saw[key] == present

    check(patch.patch, patch.expected, found)


@given(WORLDS, st.sets(st.sampled_from(MEMBERS)), st.booleans())
@fast
def test_nothing_is_written_on_an_unknown(
    world: tuple[str, dict[str, Any]], silent: set[str], told: bool
) -> None:
    text, found = world
    observed = three_nodes(text=text, unknown=silent)
    reading = Known(found) if told else Unknown("x")
    observed = dataclasses.replace(observed, settings={"main": reading})
    plan = plan_for(observed, text)
    wrote = [
        action
        for action in plan.actions
        if isinstance(action, PatchSettings) and action.aspect == "settings"
    ]
    assert first_refusal(plan, observed) is None
    assert not wrote or (told and not silent)
    assert len(wrote) <= 1


NUMBERS = sorted(
    (p for p in parameters().values() if p.type in {"integer", "real"}), key=lambda p: p.name
)
UNITS = {
    "B": {"B": 1, "kB": 1 << 10, "MB": 1 << 20},
    "s": {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000},
}
BYTES = {"B": 1, "kB": 1 << 10, "8kB": 8 << 10, "MB": 1 << 20}
MILLISECONDS = {"ms": 1, "s": 1000, "min": 60_000}


@st.composite
def spelled(draw: st.DrawFn) -> tuple[Parameter, int, object]:
    """A parameter, a number in its unit, and another spelling of it."""
    parameter = draw(st.sampled_from(NUMBERS))
    low, high = max(parameter.minimum, 0), min(parameter.maximum, 2**31 - 1)
    number = draw(st.integers(int(low) + (low > int(low)), int(high)))
    forms: list[object] = [number, str(number), f" {number} ", float(number), f"{number}.0"]
    scale = BYTES.get(parameter.unit) or MILLISECONDS.get(parameter.unit)
    if scale is not None:
        for unit, size in UNITS["B" if parameter.unit in BYTES else "s"].items():
            if number * scale % size == 0:
                forms += [f"{number * scale // size}{unit}", f"{number * scale // size} {unit}"]
    return parameter, number, draw(st.sampled_from(forms))


@given(spelled())
@fast
def test_every_spelling_of_a_number_is_that_number(case: tuple[Parameter, int, object]) -> None:
    parameter, number, form = case
    assert same_parameter(parameter.name, number, form)
    assert same_parameter(parameter.name, form, number)


@given(spelled(), st.integers(1, 1000))
@fast
def test_another_number_is_another(case: tuple[Parameter, int, object], more: int) -> None:
    parameter, number, form = case
    assert amount_of(parameter, number + more) != number
    assert not same_parameter(parameter.name, number + more, form)


WORDS = sorted(
    (p for p in parameters().values() if p.type in {"bool", "enum"}), key=lambda p: p.name
)


@given(st.sampled_from(WORDS), st.data())
@fast
def test_every_spelling_of_a_word_is_that_word(parameter: Parameter, data: st.DataObject) -> None:
    word = data.draw(st.sampled_from(parameter.words or ("on", "off")))
    switches: dict[str, list[object]] = {
        "on": [True, "true", "Yes", "ON", 1],
        "off": [False, "false", "No", "OFF", 0],
    }
    both = {"on", "off"} <= {*(parameter.words or ("on", "off"))}
    forms = [word, word.upper(), *(switches.get(word, []) if both else [])]
    assert same_parameter(parameter.name, word, data.draw(st.sampled_from(forms)))
    others = [other for other in parameter.words if other != word]
    if others:
        assert not same_parameter(parameter.name, word, data.draw(st.sampled_from(others)))
