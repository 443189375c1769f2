"""PostgreSQL's parameters: what the server takes is taken, and nothing else."""

import pytest

from queenright.core.kinds.postgres_cluster.schema.parameters import CONTRACT_PARAMETERS
from queenright.core.postgres.parameters import (
    MANAGED,
    MINIMA,
    amount_of,
    parameter_error,
    parameters,
)
from tests.support.documents import document, edited

TAKEN = [
    ("work_mem", 4096),
    ("work_mem", "4MB"),
    ("work_mem", "4 MB"),
    ("work_mem", "0.5GB"),
    ("shared_buffers", "128kB"),
    ("statement_timeout", 0),
    ("statement_timeout", "1.5h"),
    ("autovacuum_vacuum_cost_delay", "2ms"),
    ("autovacuum_vacuum_cost_delay", -1),
    ("random_page_cost", 1.1),
    ("random_page_cost", "1.1"),
    ("jit", "on"),
    ("jit", "FALSE"),
    ("jit", 1),
    ("wal_level", "Logical"),
    ("wal_compression", "zstd"),
    ("wal_compression", "on"),
    ("huge_pages", "yes"),
    ("archive_command", "cp %p /archive/%f"),
    ("DateStyle", "ISO, DMY"),
    ("pg_stat_statements.max", 10000),
    ("a.b.c", "anything"),
    ("max_wal_senders", 3),
    ("max_wal_senders", "0x10"),
    ("log_file_mode", "0640"),
]

REFUSED = [
    ("work_mem", "4mb"),
    ("work_mem", "4s"),
    ("work_mem", ""),
    ("work_mem", "on"),
    ("work_mem", "1" * 41),
    ("work_mem", "1e400"),
    ("work_mem", float("nan")),
    ("statement_timeout", "4MB"),
    ("random_page_cost", "cheap"),
    ("jit", 2),
    ("wal_level", "archive"),
    ("Work_Mem", "4MB"),
    ("work mem", "4MB"),
    ("x" * 10_000, 1),
    ("a.", 1),
    (".a", 1),
    ("server_version", "17"),
    ("vacuum_buffer_usage_limit", "64kB"),
    ("log_file_mode", 640),
    ("log_file_mode", "0888"),
]


@pytest.mark.parametrize(("name", "value"), TAKEN)
def test_taken(name: str, value: str | int | float) -> None:
    assert parameter_error(name, value) is None


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_refused(name: str, value: str | int | float) -> None:
    told = parameter_error(name, value)
    assert told is not None
    assert len(told) < 300


def test_the_contracts_own_values_are_taken() -> None:
    for name, value in CONTRACT_PARAMETERS.items():
        assert parameter_error(name, value) is None, name


def test_the_table_is_postgresql_16s() -> None:
    table = parameters()
    assert len(table) == 344
    assert table["max_connections"].needs_restart
    assert not table["work_mem"].needs_restart
    assert (table["shared_buffers"].unit, table["shared_buffers"].minimum) == ("8kB", 16)
    assert {*MANAGED, *MINIMA} <= {*table}


@pytest.mark.parametrize("name", MINIMA)
def test_patronis_minimum_is_taken_and_just_below_it_is_not(name: str) -> None:
    least = amount_of(parameters()[name], MINIMA[name])
    assert least is not None
    assert parameter_error(name, int(least)) is None
    assert parameter_error(name, int(least) - 1) is not None


def test_a_deployers_parameters_lie_over_the_contracts() -> None:
    text = edited(
        more="postgresql: {parameters: {work_mem: 8MB, jit: false, log_connections: off}}"
    )
    values = document(text).resource.spec.postgresql.parameters
    assert values == {
        **CONTRACT_PARAMETERS,
        "work_mem": "8MB",
        "jit": "off",
        "log_connections": "off",
    }
