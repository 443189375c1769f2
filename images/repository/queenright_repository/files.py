"""Renders the configuration of Swift's servers, for one device: the volume.

One copy of everything is kept, so no server has to be told what another one missed: deletions leave
nothing behind (`reclaim_age`), and a server that failed once is asked again at once.
"""

from pathlib import Path

from .settings import Settings

STORES = {"account": 6202, "container": 6201, "object": 6200}
"""The ports of the stores, on the loopback alone."""
DEVICE = "volume"
#: Where objects lie on the device is decided by this. It must never change.
_SWIFT = "[swift-hash]\nswift_hash_path_suffix = queenright-repository\n"
_STORE = """[DEFAULT]
swift_dir = {home}
devices = {data}
mount_check = false
bind_ip = 127.0.0.1
bind_port = {port}
log_level = WARNING
log_custom_handlers = queenright_repository.lines.to_console
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
reclaim_age = 0
[{kind}-updater]
recon_cache_path = {home}
[{kind}-replicator]
reclaim_age = 0
recon_cache_path = {home}
"""
_PROXY = """[DEFAULT]
swift_dir = {home}
log_level = WARNING
log_custom_handlers = queenright_repository.lines.to_console
[pipeline:main]
pipeline = catch_errors gatekeeper room healthcheck cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_interval = 0
conn_timeout = 5
node_timeout = 60
[filter:room]
paste.filter_factory = queenright_repository.room:filter_factory
data = {data}
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
set log_level = CRITICAL
memcache_servers = 127.0.0.1:9
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {key} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""
_INSIDE = """[DEFAULT]
swift_dir = {home}
log_level = WARNING
log_custom_handlers = queenright_repository.lines.to_console
[pipeline:main]
pipeline = catch_errors proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_interval = 0
[filter:catch_errors]
use = egg:swift#catch_errors
"""


def write_files(settings: Settings, home: Path) -> None:
    """Write all files into an empty directory that only this user may read."""
    values = {"home": home, "data": settings.data}
    (home / "swift.conf").write_text(_SWIFT)
    (home / "inside.conf").write_text(_INSIDE.format(**values))
    for kind, port in STORES.items():
        text = _STORE.format(kind=kind, port=port, **values)
        (home / f"{kind}.conf").write_text(text)
    text = _PROXY.format(**values, account=settings.account, user=settings.user, key=settings.key)
    (home / "proxy.conf").write_text(text)
