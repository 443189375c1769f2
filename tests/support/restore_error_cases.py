"""Every mistake that `bootstrap` can have, one a case."""

from tests.support.documents import edited

REPOSITORY = "bucket: backups, credentials: parent_backup"
OWN = "backup: {{repository: {{{fields}}}}}"


def with_restore(
    fields: str = "cluster: main", repository: str = REPOSITORY, *, own: str = ""
) -> str:
    """A manifest that begins with the backup of this repository; ``own`` is its own."""
    field = f"bootstrap: {{from: {{backup: {{repository: {{{repository}}}, {fields}}}}}}}"
    archive = OWN.format(fields=own) if own else ""
    return edited(more="\n".join(filter(None, [field, archive])))


def to_target(target: str) -> str:
    return with_restore(f"cluster: main, target: {target}")


RESTORE_CASES: dict[str, str] = {
    "bootstrap of nothing": edited(more="bootstrap: {}"),
    "bootstrap by a word": edited(more="bootstrap: restore"),
    "restore of no cluster": with_restore("system: '7412345678901234567'"),
    "restore without credentials": with_restore(repository="bucket: backups"),
    "restore of a system without quotes": with_restore("cluster: main, system: 741234567890123456"),
    "restore of another system": with_restore("cluster: main, system: main"),
    "restore of a backup by another name": with_restore("cluster: main, base: latest"),
    "restore to a word": to_target("latest"),
    "restore to nothing": to_target("{}"),
    "restore to two targets": to_target("{time: 2026-01-31T11:59:59Z, lsn: 0/3000060}"),
    "restore to a time without a zone": to_target("{time: '2026-01-31 11:59:59'}"),
    "restore to a number in the WAL": to_target("{lsn: 3000060}"),
    "restore to a place in no WAL": to_target("{lsn: 0-3000060}"),
    "restore to a name with a quote": to_target('{name: "it\'s"}'),
    "restore into the parent's archive": with_restore(own="bucket: backups, credentials: own"),
    "restore into the parent's archive, by an address": with_restore(
        repository=f"{REPOSITORY}, endpoint: 'https://s3.example/', prefix: a",
        own="bucket: backups, credentials: own, endpoint: 'https://s3.example', prefix: a",
    ),
    "restore in clear text": with_restore(
        repository=f"{REPOSITORY}, endpoint: 'http://s3.example:9000'"
    ),
    "restore with a password for credentials": with_restore(
        repository="bucket: backups, credentials: pg_superuser_pw"
    ),
    "restore with one secret for two": with_restore(
        repository="bucket: backups, credentials: same, ca: same"
    ),
}
