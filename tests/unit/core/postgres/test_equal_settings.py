"""Spellings of one value, and values that only look alike."""

from __future__ import annotations

import pytest

from queenright.core.postgres.equal_settings import same_parameter, same_rules, same_setting


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("wal_log_hints", ["on", True, "true", "YES", 1, "1"]),
        ("log_connections", ["off", False, "False", "no", 0]),
        ("shared_buffers", ["256MB", 32768, "32768", "262144kB", "0.25GB", " 256 MB ", "0x8000"]),
        ("work_mem", ["4MB", 4096, "4096kB", "4194304B"]),
        ("log_min_duration_statement", ["250ms", 250, "0.25s", "250000us"]),
        ("checkpoint_timeout", ["5min", 300, "300s", "300000ms"]),
        ("autovacuum_vacuum_cost_delay", [2, "2ms", 2.0, "2000us", "0.002s"]),
        ("random_page_cost", [1.1, "1.1", "1.10", "11e-1"]),
        ("log_statement", ["ddl", "DDL", " Ddl "]),
        ("archive_mode", ["off", False, "false", 0]),
        ("synchronous_commit", ["on", True, "yes"]),
        ("wal_buffers", [-1, "-1"]),
        ("unix_socket_permissions", ["0777", 511, "511", "0x1FF"]),
        ("pg_stat_statements.max", [10000, "10000"]),
        ("auto_explain.log_analyze", ["on", True]),
        ("log_line_prefix", ["%m [%p] ", "%m [%p] "]),
    ],
)
def test_spellings_of_one_value(name: str, spellings: list[object]) -> None:
    for one in spellings:
        for other in spellings:
            assert same_parameter(name, one, other), (one, other)


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("shared_buffers", "256MB", 256),
        ("work_mem", "4MB", "4GB"),
        ("work_mem", "4MB", "4mb"),
        ("work_mem", 1, True),
        ("log_rotation_size", 2147483647, 2147483646),
        ("log_line_prefix", "%m ", "%m"),
        ("log_line_prefix", "%m", "%M"),
        ("application_name", "on", True),
        ("archive_mode", "on", "always"),
        ("wal_log_hints", "on", "enabled"),
        ("max_connections", 200, None),
        ("random_page_cost", 1.1, 1.100001),
        ("my.label", "on", "true"),
    ],
)
def test_different_values(name: str, one: object, other: object) -> None:
    assert not same_parameter(name, one, other)
    assert not same_parameter(name, other, one)


@pytest.mark.parametrize(
    ("wanted", "present", "same"),
    [
        (30, "30", True),
        (30, 30.0, True),
        (30, " 30 ", True),
        (30, True, False),
        (30, "30s", False),
        (30, None, False),
        (1, True, False),
        (True, "on", True),
        (False, "off", False),
        (False, 0, True),
        (1048576, "1MB", False),
        (30, {"x": 1}, False),
        (30, float("nan"), False),
    ],
)
def test_patronis_own_settings(wanted: object, present: object, same: bool) -> None:
    """Patroni reads whole numbers without a unit, and any text as true."""
    assert same_setting(wanted, present) is same


def test_quotes_keep_their_spaces() -> None:
    assert not same_rules(['local "a  b" all peer'], ['local "a b" all peer'])
    assert same_rules(["local  all all peer "], ["local all all peer"])
    assert not same_rules(["local all all peer"], None)
