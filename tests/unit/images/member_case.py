"""A member's file system and environment as the swarm would lay them out, below a directory."""

from pathlib import Path

from images.member.queenright_member.inputs import Paths

TEMPLATE = Path(__file__).with_name("patroni.yml.tpl")
SECRETS = {
    "pg_replication_pw": "Replication+/=secret1",
    "pg_superuser_pw": "Superuser+/=secret2",
    "pg_rest_pw": "Rest+/=secret3",
}
ENVIRONMENT = {
    "NODE_NAME": "member-1",
    "RAFT_SELF": "10.77.0.12:5010",
    "RAFT_PARTNERS": '["10.77.0.13:5010", "10.77.0.14:5010"]',
    "FAILOVER_PRIORITY": "3",
    "NODE_CONNECT": "10.77.0.12",
}


def with_volumes(root: Path) -> Paths:
    """Lay out everything that a member needs to start, and its empty volumes."""
    paths = lay_out(root)
    for directory in (paths.data, paths.raft):
        directory.mkdir(parents=True)
    return paths


def lay_out(root: Path) -> Paths:
    """Lay out everything that a member needs to start."""
    paths = Paths.under(root)
    for directory in (paths.template.parent, paths.secrets, paths.config.parent):
        directory.mkdir(parents=True)
    paths.template.write_text(TEMPLATE.read_text())
    for name, secret in SECRETS.items():
        (paths.secrets / name).write_text(f"  {secret}\n")
    return paths
