"""The job that dumps an application's database before another version of it runs.

Decides the service's every property. Invariant: the password is in the container's memory and in a
file of its tmpfs, never in its environment, its arguments or its output; a dump has its final name
only once ``pg_restore`` has read it.
"""

from __future__ import annotations

from queenright.core.kinds.notes_app.schema.app import NotesApp
from queenright.core.kinds.postgres_cluster.desired.services import NO_CHECK, SECRET_MODE, scratch
from queenright.core.kinds.postgres_cluster.schema.cluster import PostgresCluster
from queenright.core.manifest.quantities import MEBI
from queenright.core.observed.constraints import value_for
from queenright.core.swarm.objects import (
    APP_LABEL,
    ROLE_LABEL,
    STACK_LABEL,
    Attachment,
    FileReference,
    Mount,
    Resources,
    RestartPolicy,
    Service,
)

DUMP_ROLE = "dump"
FOLDER = "/dumps"
URL_FILE = "app_database_url"
NAME_VARIABLE = "DUMP_NAME"
SCRATCH_BYTES = 16 * MEBI
MEMORY_BYTES = 512 * MEBI
LOCK_WAIT_S = 60
"""Time for which ``pg_dump`` waits for a locked table."""

SCRIPT = r"""set -eu
umask 077
fail() { echo "dump failed: $*" >&2; exit 1; }
url=$(cat /run/secrets/app_database_url)
case $url in
  *[?\&]password=*) fail "the password is in the query of the connection string" ;;
  postgres://*|postgresql://*) ;;
  *) fail "the connection string is no URI such as postgresql://role:password@host/database" ;;
esac
bare=$(printf %s "$url" | sed -E 's#^(postgres(ql)?://[^:@/?]*):[^@/?]*@#\1@#')
printf %s "$url" | sed -nE 's#^postgres(ql)?://[^:@/?]*:([^@/?]*)@.*#\2#p' | LC_ALL=C awk '
  BEGIN { for (i = 1; i < 256; i++) byte[sprintf("%02x", i)] = sprintf("%c", i) }
  { line = $0; text = ""
    while (match(line, /%[0-9A-Fa-f][0-9A-Fa-f]/)) {
      text = text substr(line, 1, RSTART - 1) byte[tolower(substr(line, RSTART + 1, 2))]
      line = substr(line, RSTART + 3) }
    text = text line
    gsub(/[\\:]/, "\\\\&", text)
    print "*:*:*:*:" text }' > /tmp/pgpass
url=
export PGPASSFILE=/tmp/pgpass HOME=/tmp
cd /dumps || fail "there is no place for dumps"
rm -f ".$DUMP_APP"-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]T*.partial
part=".$DUMP_NAME.partial"
trap 'rm -f "$part"' EXIT
timeout "$DUMP_TIMEOUT" pg_dump --format=custom --no-password --file="$part" \
  --lock-wait-timeout="$DUMP_LOCK_WAIT" --dbname="$bare" || fail "pg_dump ended with exit status $?"
pg_restore --list "$part" > /tmp/list || fail "pg_restore can not read what pg_dump wrote"
entries=$(grep -vc '^;' /tmp/list || true)
sync
mv "$part" "$DUMP_NAME"
sync
bytes=$(wc -c < "$DUMP_NAME")
removed=0
ours="^$DUMP_APP-[0-9]{8}T[0-9]{6}Z-.*\.dump$"
for file in $(ls -1 | grep -E "$ours" | sort -r | tail -n +$((DUMP_KEEP + 1))); do
  rm -f "$file"
  removed=$((removed + 1))
done
echo "dumped name=$DUMP_NAME bytes=$((bytes)) entries=$entries removed=$removed"
"""
"""POSIX shell, so that any image with PostgreSQL's own tools will do."""


def dump_job(app: NotesApp, cluster: PostgresCluster | None, url_secret: str) -> Service | None:
    """The job but for its name and the file's; None where none is wanted or none can be made."""
    name, dump = app.metadata.name, app.spec.upgrade.dump
    image = dump.image or (cluster.spec.image if cluster else None)
    node = dump.node or (cluster.spec.members[-1].node if cluster else None)
    if dump.mode == "none" or image is None or node is None or not url_secret:
        return None
    kept = (
        Mount(FOLDER, "bind", dump.path)
        if dump.path
        else Mount(FOLDER, "volume", dump.volume or f"{name}_dumps")
    )
    return Service(
        name=f"{name}_{DUMP_ROLE}",
        image=image,
        mode="replicated-job",
        labels={APP_LABEL: name, STACK_LABEL: name, ROLE_LABEL: DUMP_ROLE},
        container_labels={APP_LABEL: name, STACK_LABEL: name},
        command=("sh", "-c", SCRIPT),
        environment={
            "DUMP_APP": name,
            "DUMP_KEEP": str(dump.keep),
            "DUMP_TIMEOUT": str(dump.timeout_s),
            "DUMP_LOCK_WAIT": f"{LOCK_WAIT_S}s",
        },
        user="0:0",
        init=True,
        read_only=True,
        capabilities_dropped=("ALL",),
        networks=(Attachment(app.spec.network.name),),
        constraints=(f"node.hostname=={node}",),
        mounts=tuple(sorted((scratch("/tmp", SCRATCH_BYTES), kept))),  # noqa: S108  # its tmpfs
        secrets=(FileReference(url_secret, URL_FILE, mode=SECRET_MODE),),
        health_check=NO_CHECK,
        resources=Resources(memory_limit_bytes=MEMORY_BYTES),
        restart=RestartPolicy(condition="none"),
    )


def place_of(job: Service) -> str:
    """Name the volume or directory of the dumps, and its node, for people."""
    mount = next((mount for mount in job.mounts if mount.target == FOLDER), None)
    node = value_for(job.constraints, "node.hostname") or "a node that its service does not name"
    if mount is None:
        return f"a place that its service does not name, on {node}"
    return f"{'directory' if mount.kind == 'bind' else 'volume'} {mount.source} on {node}"
