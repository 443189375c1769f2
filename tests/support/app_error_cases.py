"""Every mistake that a notes application's manifest can have, one a case, by the mistake's name.

The message for each is in tests/golden/manifest_errors.txt.
"""

from tests.support.documents import BASE, edited_app

DUMP = "upgrade: {dump: none}"
IMAGE = "registry:5000/queenright-notes:1.0.100"
ORIGIN = "https://notes.example.org"
DATABASE = "{urlSecret: app_database_url}"
EDGE = "edge: {image: registry:5000/queenright-edge:2.6}"


def dumping(dump: str) -> str:
    return edited_app((DUMP, f"upgrade: {{dump: {dump}}}"))


APP_CASES: dict[str, str] = {
    # image and origin
    "app without image": edited_app((f"  image: {IMAGE}\n", "")),
    "app's image with a space": edited_app((IMAGE, "queenright notes")),
    "app's image latest": edited_app((":1.0.100", ":latest")),
    "app's image without tag": edited_app((":1.0.100", "")),
    "app without origin": edited_app((f"  origin: {ORIGIN}\n", "")),
    "origin a host": edited_app((ORIGIN, "notes.example.org")),
    "origin with a path": edited_app((ORIGIN, ORIGIN + "/notes")),
    "origin with a query": edited_app((ORIGIN, ORIGIN + "?a=b")),
    "origin with a password": edited_app((ORIGIN, "https://me:pw@notes.example.org")),
    "origin of another scheme": edited_app((ORIGIN, "ftp://notes.example.org")),
    "origin's port": edited_app((ORIGIN, ORIGIN + ":99999")),
    "origin's bracket": edited_app((ORIGIN, "'https://[::1'")),
    "origin a number": edited_app((ORIGIN, "5")),
    "origin plain HTTP": edited_app((ORIGIN, "http://notes.example.org")),
    "extra host a URL": edited_app(more="extraHosts: ['https://www.example.org']"),
    "extra host's port": edited_app(more="extraHosts: ['www.example.org:70000']"),
    "extra hosts text": edited_app(more="extraHosts: a.example.org,b.example.org"),
    "extra host the main one": edited_app(more="extraHosts: [notes.example.org]"),
    "extra host twice": edited_app(more="extraHosts: [a.example.org, a.example.org]"),
    "replicas text": edited_app(more="replicas: two"),
    "replicas negative": edited_app(more="replicas: -1"),
    "replicas too many": edited_app(more="replicas: 101"),
    "no replica": edited_app(more="replicas: 0"),
    "one replica": edited_app(more="replicas: 1"),
    # database and keys
    "app without database": edited_app((f"  database: {DATABASE}\n", "")),
    "database nowhere": edited_app((DATABASE, "{}")),
    "database twice": edited_app((DATABASE, "{urlSecret: a, cluster: main}")),
    "database with a role of nobody's": edited_app((DATABASE, "{urlSecret: a, role: notes}")),
    "database's cluster with capitals": edited_app((DATABASE, "{cluster: Main}")),
    "database of no cluster": edited_app((DATABASE, "{cluster: main}")),
    "database's name with capitals": edited_app((DATABASE, "{cluster: main, name: Notes}")),
    "database's name too long": edited_app((DATABASE, f"{{cluster: main, name: {'a' * 55}}}")),
    "database's role reserved": edited_app((DATABASE, "{cluster: main, role: postgres}")),
    "database's role PostgreSQL's": edited_app((DATABASE, "{cluster: main, role: pg_monitor}")),
    "database's secret with a space": edited_app(
        (DATABASE, "{cluster: main, passwordSecret: a b}")
    ),
    "database's unknown field": edited_app((DATABASE, "{cluster: main, user: notes}")),
    "database a word": edited_app((DATABASE, "main")),
    "key a word": edited_app(more="encryptionKey: app_encryption_key"),
    "key's secret a number": edited_app(more="encryptionKey: {secret: 5}"),
    "key backed up a word": edited_app(more="encryptionKey: {backedUp: yes}"),
    "key the database's": edited_app(more="encryptionKey: {secret: app_database_url}"),
    "database's password a role's of its cluster": (
        f"{BASE}  roles: [{{name: shop, passwordSecret: shop_pw}}]\n---\n"
        + edited_app((DATABASE, "{cluster: main, passwordSecret: shop_pw}"))
    ),
    # single sign-on
    "oidc without client": edited_app(more="oidc: {issuer: 'https://id.example.org'}"),
    "oidc's issuer": edited_app(
        more="oidc: {issuer: id.example.org, clientId: notes, clientSecret: s}"
    ),
    "oidc's issuer plain HTTP": edited_app(
        more="oidc: {issuer: 'http://id.example.org', clientId: notes, clientSecret: s}"
    ),
    "oidc's client empty": edited_app(
        more="oidc: {issuer: 'https://id.example.org', clientId: '', clientSecret: s}"
    ),
    "oidc's client in two lines": edited_app(
        more="oidc: {issuer: 'https://id.example.org', clientId: \"a\\nb\", clientSecret: s}"
    ),
    "oidc's group with a zero byte": edited_app(
        more="oidc: {issuer: 'https://id.example.org', clientId: a, clientSecret: s,"
        ' groupsClaim: groups, adminGroup: "a\\0b"}'
    ),
    "oidc's secret in clear": edited_app(
        more="oidc: {issuer: 'https://id.example.org', clientId: notes, clientSecret: 'a/b=='}"
    ),
    "oidc's group without claim": edited_app(
        more="oidc: {issuer: 'https://id.example.org', clientId: n, clientSecret: s, adminGroup: a}"
    ),
    # sizes, times and ports
    "attachment text": edited_app(more="maxAttachment: large"),
    "attachment of half a megabyte": edited_app(more="maxAttachment: 512K"),
    "attachment of nothing": edited_app(more="maxAttachment: 0"),
    "attachment beyond all": edited_app(more="maxAttachment: 2097152M"),
    "body smaller than a chunk": edited_app(more="bodySizeLimit: 4M"),
    "body small": edited_app(more="bodySizeLimit: 5M"),
    "body negative": edited_app(more="bodySizeLimit: -1"),
    "shutdown a size": edited_app(more="shutdownTimeout: 20M"),
    "shutdown of days": edited_app(more="shutdownTimeout: 2d\nstopGracePeriod: 3d"),
    "grace below the shutdown": edited_app(more="stopGracePeriod: 24s"),
    "shutdown above the grace": edited_app(more="shutdownTimeout: 26s"),
    "app's port text": edited_app(more="port: http"),
    "app's port zero": edited_app(more="port: 0"),
    "app's host a name": edited_app(more="host: localhost"),
    "app's host the loopback": edited_app(more="host: 127.0.0.1"),
    # publishing and proxies
    "publish unknown": edited_app(more="publish: everywhere"),
    "publish a number": edited_app(more="publish: 3000"),
    "publish's port": edited_app(more="publish: {port: 70000}"),
    "publish swarm's port": edited_app(more="publish: {port: 7946}"),
    "publish nowhere": edited_app(more="publish: none"),
    "publish beside the edge": edited_app(more=f"{EDGE}\npublish: host"),
    "header from anybody": edited_app(more="protocolHeader: X-Forwarded-Proto"),
    "headers from anybody": edited_app(more="hostHeader: X-Host\naddressHeader: X-Forwarded-For"),
    "header with a colon": edited_app(more="behindProxy: true\naddressHeader: 'X-Forwarded-For:'"),
    "depth zero": edited_app(more="behindProxy: true\naddressHeader: X-A\nxffDepth: 0"),
    "depth without header": edited_app(more="xffDepth: 2"),
    "behindProxy a word": edited_app(more="behindProxy: nginx"),
    "behindProxy without address": edited_app(
        more="behindProxy: true\nprotocolHeader: X-Forwarded-Proto"
    ),
    "behindProxy beside the edge": edited_app(more=f"{EDGE}\nbehindProxy: true"),
    # containers
    "app's network": edited_app(more="network: {name: a b}"),
    "app's subnet": edited_app(more="network: {subnet: 10.91.0.1/24}"),
    "placement a list": edited_app(more="placement: [node2]"),
    "placement's node twice": edited_app(more="placement: {nodes: [node2, node2]}"),
    "placement's label": edited_app(more="placement: {label: Notes}"),
    "too few nodes for host ports": edited_app(more="publish: host\nplacement: {nodes: [node2]}"),
    "app's memory": edited_app(more="resources: {memory: {limit: 1M, reservation: 1M}}"),
    "app's reservation": edited_app(more="resources: {memory: {limit: 64M}}"),
    "app's reservation below swarm's least": edited_app(
        more="resources: {memory: {reservation: 1M}}"
    ),
    "app's cpus below swarm's least": edited_app(more="resources: {cpus: {limit: 0.0005}}"),
    "app checked from the start": edited_app(more="healthCheck: {startPeriod: 0}"),
    "app's cpus text": edited_app(more="resources: {cpus: {limit: half}}"),
    "app's cpus negative": edited_app(more="resources: {cpus: {limit: -1}}"),
    "app's cpus reserved": edited_app(more="resources: {cpus: {limit: 1, reservation: 2}}"),
    "app's tmp": edited_app(more="resources: {tmp: 1K}"),
    "app's memory elsewhere": edited_app(more="memory: {limit: 1G}"),
    "app's check at once": edited_app(more="healthCheck: {interval: 0, timeout: 0}"),
    "app's retries": edited_app(more="healthCheck: {retries: 0}"),
    "app's restart": edited_app(more="restartPolicy: {condition: always}"),
    "update's order": edited_app(more="update: {order: startfirst}"),
    "start-first with a host's port": edited_app(
        more="publish: host\nupdate: {order: start-first}"
    ),
    "all replicas at once with a host's port": edited_app(
        more="publish: host\nupdate: {parallelism: 2}"
    ),
    "update's failure": edited_app(more="update: {failureAction: continue}"),
    "update's parallelism": edited_app(more="update: {parallelism: 0}"),
    "update hardly watched": edited_app(more="update: {monitor: 5s}"),
    "app's deletion": edited_app(more="deletionPolicy: delete"),
    "app's reconcile": edited_app(more="reconcile: stopped"),
    "app's pause without state": edited_app(
        more="reconcile: {state: active, until: 2026-12-01T06:00Z}"
    ),
    # dumps
    "dump unknown": dumping("always"),
    "dump a switch": dumping("false"),
    "dump without image": dumping("{mode: required, node: node4}"),
    "dump without node": dumping("{mode: attempted, image: registry:5000/queenright-member:16}"),
    "dump in two places": dumping("{mode: none, volume: dumps, path: /srv/dumps}"),
    "dump's path relative": dumping("{mode: none, path: srv/dumps}"),
    "dump's path climbs": dumping("{mode: none, path: /srv/../etc}"),
    "dump's volume": dumping("{mode: none, volume: a/b}"),
    "dump keeps nothing": dumping("{mode: none, keep: 0}"),
    "dump in no time": dumping("{mode: none, timeout: 1s}"),
    "dump's unknown field": dumping("{mode: none, retention: 5}"),
}
