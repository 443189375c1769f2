"""Properties of loading any text: documents and problems; what is accepted once, always is."""

import json
import random
from copy import deepcopy
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from queenright.core.kinds.load import load
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from tests.support.documents import BASE, document
from tests.support.error_cases import CASES
from tests.support.examples import examples

SEEDS = [BASE, *CASES.values()]
SEEDS = [seed for seed in SEEDS if len(seed) < 5000]
TREE: dict[str, Any] = yaml.safe_load(BASE)
SIGNS = st.sampled_from(
    [*"\t\n\r :{}[]-#&*!|>'\"%@`?,~\\", "---\n", "<<: ", "\x00", "\ud800", "é", "\u2028"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["30s", "2G", "10.77.0.0/24", "on", "10.77.0.12", "1" * 5000, "0x", "1e999"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def check_total(text: str) -> None:
    result = load({"any.yaml": text})
    assert result.documents or result.problems
    last = text.count("\n") + text.count("\r") + text.count("\u2028") + text.count("\x85") + 2
    for problem in result.problems:
        assert 1 <= problem.line <= last + text.count("\u2029")
        assert str(problem).isprintable()
        str(problem).encode()


@settings(deadline=None)
@given(st.text())
def test_any_text_at_all(text: str) -> None:
    check_total(text)


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(SEEDS), st.data())
def test_manifests_with_holes_and_splinters(seed: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, min(len(seed), start + 40)))
    splinter = data.draw(st.lists(SIGNS | st.text(max_size=3), max_size=4))
    check_total(seed[:start] + "".join(splinter) + seed[end:])


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_any_value_in_any_place(data: st.DataObject) -> None:
    tree = deepcopy(TREE)
    holder: Any = tree
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(holder[key], dict | list) or not holder[key] or data.draw(st.booleans()):
            break
        holder = holder[key]
    holder[key] = data.draw(VALUES)
    check_total(json.dumps(tree))


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "ports": st.fixed_dictionaries({}, optional={"raft": st.integers(10000, 20000)}),
        "patroni": st.fixed_dictionaries(
            {},
            optional={
                "ttl": st.sampled_from([40, "40s", "1m"]),
                "loopWait": st.sampled_from([1, "5s", "10s"]),
                "usePgRewind": st.booleans(),
                "maximumLagOnFailover": st.sampled_from(["1M", "16MB", 1 << 20]),
            },
        ),
        "postgresql": st.fixed_dictionaries(
            {},
            optional={
                "parameters": st.fixed_dictionaries(
                    {},
                    optional={
                        "work_mem": st.sampled_from(["4MB", 4096]),
                        "jit": st.sampled_from([True, False, "on", "off"]),
                        "log_line_prefix": st.text("%mpqud@ []${}'\"#:", max_size=20),
                    },
                ),
                "accessRules": st.lists(
                    st.just("host all all 192.168.0.0/24 scram-sha-256"), max_size=2
                ),
            },
        ),
        "memory": st.fixed_dictionaries({"limit": st.sampled_from(["2G", "4096M", 1 << 31])}),
        "stopGracePeriod": st.integers(30, 600),
        "deletionPolicy": st.sampled_from(["retain", "remove"]),
    },
)


def manifest(fields: dict[str, Any]) -> dict[str, Any]:
    tree = deepcopy(TREE)
    tree["spec"] |= fields
    return tree


@settings(max_examples=examples(50), deadline=None)
@given(FIELDS)
def test_a_valid_document_survives_its_own_spelling(fields: dict[str, Any]) -> None:
    first = document(json.dumps(manifest(fields))).resource
    spelt = first.model_dump(mode="json", by_alias=True)
    assert document(json.dumps(spelt)).resource == first
    assert document(yaml.safe_dump(spelt)).resource == first
    assert PostgresCluster.model_validate(spelt) == first


@settings(max_examples=examples(50), deadline=None)
@given(FIELDS, st.randoms(use_true_random=False))
def test_the_order_of_keys_means_nothing(fields: dict[str, Any], chance: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(item) for item in value]
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        chance.shuffle(items)
        return {key: shuffled(item) for key, item in items}

    tree = manifest(fields)
    assert document(json.dumps(shuffled(tree))).resource == document(json.dumps(tree)).resource


@settings(max_examples=examples(50), deadline=None)
@given(st.permutations(["a.yaml", "b.yaml", "c.yaml"]))
def test_the_order_of_files_means_nothing(names: list[str]) -> None:
    texts = {"a.yaml": BASE, "b.yaml": "nonsense", "c.yaml": BASE.replace("main", "other")}
    assert load({name: texts[name] for name in names}) == load(texts)
