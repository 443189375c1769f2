"""The template's rules: what a placeholder becomes, where it may stand, what is refused."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from images.member.queenright_member.template import TemplateError, Value, fill, placeholders

SECRET = 'a: "b" #c\\'
VALUES: dict[str, Value] = {
    "NODE_CONNECT": "10.77.0.12",
    "RAFT_PARTNERS": ("10.77.0.13:5010", "10.77.0.14:5010"),
    "FAILOVER_PRIORITY": 3,
    "PG_REST_PW": SECRET,
}


@pytest.mark.parametrize(
    ("template", "meaning"),
    [
        ("key: ${PG_REST_PW}", {"key": 'a: "b" #c\\'}),
        ("key: ${RAFT_PARTNERS}", {"key": ["10.77.0.13:5010", "10.77.0.14:5010"]}),
        ("key: ${FAILOVER_PRIORITY}", {"key": 3}),
        ("key: ${NODE_CONNECT}:8008", {"key": "10.77.0.12:8008"}),
        ("- ${NODE_CONNECT}", ["10.77.0.12"]),
        ("- - key: ${NODE_CONNECT}", [[{"key": "10.77.0.12"}]]),
        ("a:\n  b: ${NODE_CONNECT}\n  # ${ANYTHING} in a comment\n", {"a": {"b": "10.77.0.12"}}),
        ("key: 'cp %p $${HOME}'", {"key": "cp %p ${HOME}"}),
    ],
)
def test_a_filled_template_means(template: str, meaning: object) -> None:
    assert yaml.safe_load(fill(template, VALUES)) == meaning


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("a: 1\nkey: ${NO_SUCH}", "line 2: unknown placeholder ${NO_SUCH} (known: FAILOVER_PRI"),
        ("key: ${}", "unknown placeholder ${}"),
        ("key: x${PG_REST_PW}", "${PG_REST_PW} has to stand alone"),
        ("${NODE_CONNECT}: value", "only stand in a value"),
        ("key: '${NODE_CONNECT}:8008'", "only plain text may stand"),
        ("key: {a: ${NODE_CONNECT}}", "only plain text may stand"),
        ("key: ${NODE_CONNECT}:8008 # comment", "only plain text may stand"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused_by_line(template: str, words: str) -> None:
    with pytest.raises(TemplateError) as refused:
        fill(template, VALUES)
    assert words in str(refused.value)
    assert SECRET not in str(refused.value)


def test_an_address_with_other_characters_cannot_be_composed() -> None:
    with pytest.raises(TemplateError, match="is not an address"):
        fill("key: ${NODE_CONNECT}:8008", {"NODE_CONNECT": "1.2.3.4 # x"})


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_survives_as_the_very_same_value(text: str) -> None:
    assert yaml.safe_load(fill("a: ${X}\nb: 1", {"X": text})) == {"a": text, "b": 1}


def test_placeholders_of_comments_are_not_needed() -> None:
    assert placeholders("# ${A}\nkey: ${B}\nother: $${C}") == {"B"}
