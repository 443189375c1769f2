"""Every mistake that `replication` can have, one a case."""

from tests.support.documents import edited

ALONE = (
    ("    - {name: member-2, node: node3}\n", ""),
    ("    - {name: member-3, node: node4}\n", ""),
)


def with_replication(value: str, *edits: tuple[str, str], more: str = "") -> str:
    """A manifest with this field, and others after it."""
    return edited(*edits, more="\n".join(filter(None, [f"replication: {value}", more])))


REPLICATION_CASES: dict[str, str] = {
    "replication a word": with_replication("quorum"),
    "replication of another mode": with_replication("{mode: sync}"),
    "replication by no nodes": with_replication("{mode: quorum, nodes: 0}"),
    "replication by too many nodes": with_replication("{mode: synchronous, nodes: 3}"),
    "replication of one member": with_replication("{mode: quorum}", *ALONE),
    "replication of two members": with_replication(
        "{mode: quorum}", *ALONE[1:], more="acknowledge: [noFailover, evenMembers]"
    ),
    "replication strict without a mode": with_replication("{strict: true, nodes: 2}"),
    "replication with a lag of nothing": with_replication("{mode: quorum, maximumLagOnSync: 0}"),
    "replication with more lag than a leader may have": with_replication(
        "{mode: quorum, maximumLagOnSync: 2G}"
    ),
    "replication that may keep the primary from leading": with_replication(
        "{mode: synchronous}", more="primary: member-3"
    ),
    "replication without the wait": with_replication(
        "{mode: quorum}", more="postgresql: {parameters: {synchronous_commit: local}}"
    ),
    "replication without the wait, by a switch": with_replication(
        "{mode: synchronous}", more="postgresql: {parameters: {synchronous_commit: off}}"
    ),
    "replication named by hand": with_replication(
        "{mode: synchronous}", more="postgresql: {parameters: {synchronous_standby_names: '*'}}"
    ),
}
