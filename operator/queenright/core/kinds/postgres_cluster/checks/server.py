"""Checks of the database server's settings: its parameters and access rules.

Decides from one valid `PostgresCluster`, as `checks` does for the rest of it.
"""

from collections.abc import Callable, Iterator

from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.problems import Finding, Path
from queenright.core.manifest.quantities import format_size
from queenright.core.postgres import hba as access_rules
from queenright.core.postgres import parameters as parameter_table

PARAMETERS: Path = ("spec", "postgresql", "parameters")
ACCESS_RULES: Path = ("spec", "postgresql", "accessRules")
BLOCK_BYTES = 8192
"""PostgreSQL's block, in which it counts `shared_buffers`."""


def _parameters(cluster: PostgresCluster) -> Iterator[Finding]:
    for name, value in cluster.spec.postgresql.parameters.items():
        refusal = parameter_table.parameter_error(name, value)
        if refusal:
            yield Finding((*PARAMETERS, name), refusal)


def parameter_amount(cluster: PostgresCluster, name: str, default: int) -> float:
    """A parameter as a number, in its own unit, or the default where PostgreSQL takes none."""
    value = cluster.spec.postgresql.parameters.get(name, default)
    parameter = parameter_table.parameters()[name]
    amount = parameter_table.amount_of(parameter, value)
    is_taken = amount is not None and parameter.minimum <= amount <= parameter.maximum
    return default if amount is None or not is_taken else amount


def connections_of(cluster: PostgresCluster) -> tuple[float, float]:
    """`max_connections`, and how many of them no application gets."""
    reserved = parameter_amount(cluster, "superuser_reserved_connections", 3)
    reserved += parameter_amount(cluster, "reserved_connections", 0)
    return parameter_amount(cluster, "max_connections", 100), reserved


def _parameters_fit(cluster: PostgresCluster) -> Iterator[Finding]:
    others = len(cluster.spec.members) - 1
    for name in ("max_wal_senders", "max_replication_slots"):
        amount = parameter_amount(cluster, name, 10)
        if amount < others:
            message = (
                f"{amount:.0f} is too few: {others + 1} members need {others}, one for each "
                "replica; better two more"
            )
            yield Finding((*PARAMETERS, name), message, involves=(("spec", "members"),))
    connections, reserved = connections_of(cluster)
    if reserved >= connections:
        message = f"{connections:.0f} leaves none beside the {reserved:.0f} reserved connections"
        yield Finding((*PARAMETERS, "max_connections"), message)
    buffers = BLOCK_BYTES * parameter_amount(cluster, "shared_buffers", 16384)
    limit = cluster.spec.memory.limit_bytes
    if buffers >= limit:
        message = (
            f"{format_size(int(buffers))} does not fit into the member's memory limit of "
            f"{format_size(limit)}; a quarter of it is usual"
        )
        path: Path = (*PARAMETERS, "shared_buffers")
        yield Finding(path, message, involves=(("spec", "memory", "limit"),))


def _encrypts(cluster: PostgresCluster) -> bool:
    return parameter_table.is_on(cluster.spec.postgresql.parameters.get("ssl", "off"))


def _certificates(cluster: PostgresCluster) -> Iterator[Finding]:
    parameters = cluster.spec.postgresql.parameters
    missing = [name for name in ("ssl_cert_file", "ssl_key_file") if name not in parameters]
    if _encrypts(cluster) and missing:
        message = (
            f"can't be on without {' and '.join(missing)}, the paths of files in the member image: "
            "the server would not start"
        )
        yield Finding((*PARAMETERS, "ssl"), message)


def _access_rules(cluster: PostgresCluster) -> Iterator[Finding]:
    for index, line in enumerate(cluster.spec.postgresql.access_rules):
        path: Path = (*ACCESS_RULES, index)
        rule = access_rules.parse_rule(line)
        if isinstance(rule, str):
            yield Finding(path, rule)
            continue
        warning = access_rules.warning(rule, cluster.spec.lan_subnet, encrypts=_encrypts(cluster))
        if warning:
            yield Finding(path, warning, "warning", (("spec", "lanSubnet"),))


SERVER_CHECKS: tuple[Callable[[PostgresCluster], Iterator[Finding]], ...] = (
    _parameters,
    _parameters_fit,
    _certificates,
    _access_rules,
)
