"""Every mistake that `backup` can have, one a case."""

from tests.support.documents import edited

REPOSITORY = "bucket: backups, credentials: main_backup_credentials"


def with_backup(repository: str = REPOSITORY, *, more: str = "", extra: str = "") -> str:
    """A manifest with this repository, other fields of `backup` and others after it."""
    field = f"backup: {{repository: {{{repository}}}{extra}}}"
    return edited(more="\n".join(filter(None, [field, more])))


def with_parameter(text: str) -> str:
    return with_backup(more=f"postgresql: {{parameters: {{{text}}}}}")


VOLUME = "volume: {node: node5, image: r/queenright-repository:2.30}"


BACKUP_CASES: dict[str, str] = {
    "backup on a volume": with_backup(f"credentials: c, {VOLUME}"),
    "backup on a volume with a certificate alone": with_backup(
        f"credentials: c, {VOLUME}".replace("}", ", certificate: tls}")
    ),
    "backup on a volume with a CA alone": with_backup(f"credentials: c, ca: s3_ca, {VOLUME}"),
    "backup on a volume and in a bucket": with_backup(f"bucket: others, credentials: c, {VOLUME}"),
    "backup on a volume and at an address": with_backup(
        f"credentials: c, endpoint: 'https://s3.example', {VOLUME}"
    ),
    "backup on a volume beside a member": with_backup(
        f"credentials: c, {VOLUME}".replace("node5", "node2")
    ),
    "backup on a volume of nowhere": with_backup("credentials: c, volume: {image: r/q:1}"),
    "backup on a volume with a secret twice": with_backup(
        f"credentials: c, ca: c, {VOLUME}".replace("}", ", certificate: c}")
    ),
    "backup a switch": edited(more="backup: true"),
    "backup of nothing": edited(more="backup: {}"),
    "backup's repository a word": edited(more="backup: {repository: s3://backups/main}"),
    "backup without credentials": with_backup("bucket: backups"),
    "backup without a bucket": with_backup("credentials: main_backup_credentials"),
    "backup in a bucket of capitals": with_backup("bucket: Backups, credentials: c"),
    "backup in a folder for a bucket": with_backup("bucket: backups/main, credentials: c"),
    "backup in a URL for a bucket": with_backup("bucket: 's3://backups', credentials: c"),
    "backup with the credentials themselves": with_backup(
        "bucket: backups, credentials: 'aws_secret_access_key = hidden'"
    ),
    "backup with the keys in the file": with_backup(f"{REPOSITORY}, secretAccessKey: hidden"),
    "backup at an address without a scheme": with_backup(f"{REPOSITORY}, endpoint: s3.example"),
    "backup at another scheme": with_backup(f"{REPOSITORY}, endpoint: 'ftp://s3.example'"),
    "backup at an address with a password": with_backup(
        f"{REPOSITORY}, endpoint: 'https://key:hidden@s3.example'"
    ),
    "backup at an address with a question": with_backup(
        f"{REPOSITORY}, endpoint: 'https://s3.example/?token=hidden'"
    ),
    "backup in clear text": with_backup(f"{REPOSITORY}, endpoint: 'http://s3.example:9000'"),
    "backup in clear text with an authority": with_backup(
        f"{REPOSITORY}, endpoint: 'http://s3.example:9000', ca: s3_ca"
    ),
    "backup in a folder above": with_backup(f"{REPOSITORY}, prefix: ../other"),
    "backup in a folder from the root": with_backup(f"{REPOSITORY}, prefix: /clusters"),
    "backup in a region with a blank": with_backup(f"{REPOSITORY}, region: eu central"),
    "backup with another compression": with_backup(extra=", compression: lz4"),
    "backup with a schedule of a word": with_backup(extra=", schedule: '@daily'"),
    "backup with a schedule of six fields": with_backup(extra=", schedule: '0 0 3 * * *'"),
    "backup with a schedule beyond the hour": with_backup(extra=", schedule: '60 3 * * *'"),
    "backup with a schedule downwards": with_backup(extra=", schedule: '0 5-3 * * *'"),
    "backup with a schedule of a name": with_backup(extra=", schedule: '0 3 * * sun'"),
    "backup with a schedule without a step": with_backup(extra=", schedule: '*/0 3 * * *'"),
    "backup with a schedule that never comes": with_backup(extra=", schedule: '0 3 30 2 *'"),
    "backup from nowhere": with_backup(extra=", from: standby"),
    "replicas from a standby": with_backup(extra=", createReplicasFrom: standby"),
    "replicas from the backup without one": edited(more="createReplicasFrom: backup"),
    "replicas from the backup in a backup of nothing": edited(
        more="backup: {createReplicasFrom: backup}"
    ),
    "replicas from the backup by another command": with_backup(
        extra=", createReplicasFrom: backup",
        more="healthCheck: {whileStarting: healthy}\n"
        "postgresql: {parameters: {restore_command: 'cp /mnt/%f %p'}}",
    ),
    "replicas from the backup within a minute": with_backup(extra=", createReplicasFrom: backup"),
    "backup with a retention of none": with_backup(extra=", retention: {count: 0}"),
    "backup with a retention of nothing": with_backup(
        extra=", schedule: '0 3 * * *', retention: {}"
    ),
    "backup with a drill of nothing": with_backup(extra=", drill: {}"),
    "backup with a drill each day": with_backup(extra=", drill: {node: node4, schedule: daily}"),
    "backup with a drill in too little": with_backup(extra=", drill: {node: node4, memory: 64M}"),
    "backup with a password for credentials": with_backup(
        "bucket: backups, credentials: pg_superuser_pw"
    ),
    "backup with one secret for two": with_backup(f"{REPOSITORY}, ca: main_backup_credentials"),
    "backup with a role's password": with_backup(
        "bucket: backups, credentials: app_pw", more="roles: [{name: app, passwordSecret: app_pw}]"
    ),
    "backup without archiving": with_parameter("archive_mode: off"),
    "backup without the replicas": with_parameter("archive_mode: on"),
    "backup by another command": with_parameter("archive_command: 'cp %p /mnt/%f'"),
    "backup by a library": with_parameter("archive_library: basic_archive"),
    "backup without a time": with_parameter("archive_timeout: 0"),
}
