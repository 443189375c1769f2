"""Every mistake that a manifest can have, one a case: what is written, by the mistake's name.

The message for each is in tests/golden/manifest_errors.txt.
"""

from tests.support.access_rule_error_cases import ACCESS_RULE_CASES
from tests.support.app_error_cases import APP_CASES
from tests.support.backup_error_cases import BACKUP_CASES
from tests.support.databases_error_cases import DATABASES_CASES
from tests.support.documents import BASE, edited
from tests.support.edge_error_cases import EDGE_CASES
from tests.support.replication_error_cases import REPLICATION_CASES
from tests.support.restore_error_cases import RESTORE_CASES
from tests.support.vip_error_cases import VIP_CASES

SECOND = "    - {name: member-2, node: node3}\n"
THIRD = "    - {name: member-3, node: node4}\n"
MEMBERS = "    - {name: member-1, node: node2}\n" + SECOND + THIRD
SEVEN = "".join(f"    - {{name: member-{i}, node: n{i}}}\n" for i in range(3, 8))
PROXY = "    image: registry:5000/queenright-proxy:3.0-alpine\n"

CASES: dict[str, str] = {
    # head
    "empty file": "",
    "comments only": "# nothing yet\n",
    "not a mapping": "- a\n- b\n",
    "only text": "hello\n",
    "apiVersion missing": edited(("apiVersion: queenright/v1alpha1\n", "")),
    "apiVersion misspelt": edited(("apiVersion:", "apiversion:")),
    "apiVersion unknown": edited(("v1alpha1", "v1beta1")),
    "kind missing": edited(("kind: PostgresCluster\n", "")),
    "kind unknown": edited(("PostgresCluster", "PostgressCluster")),
    "kind foreign": edited(("PostgresCluster", "Deployment")),
    "kind and version not text": edited(("PostgresCluster", "1"), ("queenright/v1alpha1", "[]")),
    "metadata missing": edited(("metadata: {name: main}\n", "")),
    "name missing": edited(("{name: main}", "{}")),
    "name with capitals": edited(("{name: main}", "{name: Main}")),
    "name too long": edited(("{name: main}", "{name: " + "a" * 31 + "}")),
    "name is a number": edited(("{name: main}", "{name: 5}")),
    "spec missing": BASE[: BASE.index("spec:")],
    # yaml
    "tab": edited(("  image:", "\timage:")),
    "tab after spaces": edited(("  lanSubnet:", "  \tlanSubnet:")),
    "bad indentation": edited(("  lanSubnet:", "   lanSubnet:")),
    "missing colon": edited(("  lanSubnet: 10.77.0.0/24", "  lanSubnet 10.77.0.0/24")),
    "open quote": edited(("image: registry:5000/queenright-member:16", 'image: "registry')),
    "open bracket": edited(("{name: member-3, node: node4}", "{name: member-3, node: node4")),
    "undefined alias": edited(("10.77.0.0/24", "*lan")),
    "value starts with @": edited(("10.77.0.0/24", "@lan")),
    "unknown tag": edited(("10.77.0.0/24", "!lan 10.77.0.0/24")),
    "control character": edited(("10.77.0.0/24", "10.77\x01")),
    "duplicate key": edited(more="image: other:16"),
    "duplicate key in list": edited(
        ("{name: member-1, node: node2}", "{name: member-1, node: node2, name: a}")
    ),
    "key is a list": edited(more="? [a]\n: b"),
    "nested too deeply": edited(more="ports: " + "[" * 40 + "]" * 40),
    "nested absurdly": "[" * 100000,
    "alias to itself": "a: &a [*a]\n",
    # half written
    "cut after proxies": BASE[: BASE.index("    image: registry:5000/queenright-proxy")],
    "cut within a member": BASE[: BASE.index(", node: node4")],
    "cut after members": BASE[: BASE.index("  proxies")],
    "cut within a value": BASE[: BASE.index("image: registry:5000/queenright-proxy") + 3],
    # fields
    "unknown field": edited(more="replicas: 3"),
    "unknown field, near one": edited(more="deletionpolicy: retain"),
    "unknown field, elsewhere": edited(more="ttl: 30s"),
    "unknown field in a member": edited(("node: node2", "nod: node2")),
    "text for a number": edited(more="ports: {raft: high}"),
    "number for text": edited(("node: node2", "node: 2")),
    "float for a number": edited(more="ports: {raft: 5010.5}"),
    "text for a boolean": edited(more="patroni: {usePgRewind: yes}"),
    "list for a mapping": edited(more="patroni: []"),
    "mapping for a list": edited(more="postgresql: {accessRules: {}}"),
    "unknown choice": edited(more="restApi: {authentication: digest}"),
    "near choice": edited(more="deletionPolicy: Remove"),
    "image with capitals": edited(("queenright-member", "Queenright-member")),
    "image with a space": edited(("queenright-member:16", "queenright member")),
    "bad CIDR": edited(("10.77.0.0/24", "10.77.0.0/33")),
    "CIDR without prefix": edited(("10.77.0.0/24", "10.77.0.0")),
    "CIDR with host bits": edited(("10.77.0.0/24", "10.77.0.9/24")),
    "IPv6 subnet": edited(("10.77.0.0/24", "'fd00::/64'")),
    "wrong duration unit": edited(more="patroni: {ttl: 30sec}"),
    "size for a duration": edited(more="stopGracePeriod: 2M"),
    "negative duration": edited(more="stopGracePeriod: -1"),
    "half a second": edited(more="patroni: {ttl: 30.5s}"),
    "too fine": edited((PROXY, "    image: p:3\n    check: {interval: 0.1ms}\n")),
    "wrong size unit": edited(more="memory: {limit: 2X}"),
    "duration for a size": edited(more="memory: {limit: 30s}"),
    "float size": edited(more="memory: {limit: 2.5}"),
    "boolean size": edited(more="memory: {limit: true}"),
    "port out of range": edited(more="ports: {raft: 65536}"),
    "port zero": edited(more="ports: {raft: 0}"),
    "priority zero": edited(("node: node2", "node: node2, failoverPriority: 0")),
    "proxy timeout too long": edited((PROXY, "    image: p:3\n    timeouts: {client: 30d}\n")),
    # members
    "duplicate member": edited(("member-2", "member-1")),
    "duplicate node": edited(("node3", "node2")),
    "duplicate address": edited(
        ("node: node2", "node: node2, address: 10.77.0.12"),
        ("node: node3", "node: node3, address: 10.77.0.12"),
    ),
    "even number of members": edited((THIRD, "")),
    "one member": edited((SECOND + THIRD, "")),
    "no members": edited(("members:\n" + MEMBERS, "members: []\n")),
    "member called proxy": edited(("member-2", "proxy")),
    "member not a mapping": edited(("{name: member-2, node: node3}", "member-2")),
    "bad node name": edited(("node3", "node 3")),
    "address outside lanSubnet": edited(("node: node2", "node: node2, address: 10.78.0.12")),
    "broadcast address": edited(("node: node2", "node: node2, address: 10.77.0.255")),
    "not an address": edited(("node: node2", "node: node2, address: node2")),
    # patroni
    "ttl below its minimum": edited(
        more="patroni:\n  ttl: 10s\n  loopWait: 1s\n  retryTimeout: 3s"
    ),
    "loopWait below its minimum": edited(more="patroni: {loopWait: 0s}"),
    "retryTimeout below its minimum": edited(more="patroni: {retryTimeout: 2}"),
    "times don't fit the ttl": edited(more="patroni:\n  ttl: 30s\n  loopWait: 11s"),
    "times don't fit the default ttl": edited(more="patroni: {retryTimeout: 15s}"),
    # ports
    "member ports collide": edited(more="ports: {raft: 5432}"),
    "member and proxy ports collide": edited(more="ports: {postgresql: 5000}"),
    "swarm's port": edited(more="ports: {raft: 7946}"),
    "privileged port": edited(more="ports: {raft: 1000}"),
    # limits
    "memory below 2G": edited(more="memory: {limit: 1G}"),
    "shared_buffers beyond all numbers": edited(
        more="postgresql: {parameters: {shared_buffers: 1e308}}"
    ),
    "lanSubnet everything": edited(("10.77.0.0/24", "0.0.0.0/0")),
    "reservation below swarm's least": edited(more="memory: {reservation: 3M}"),
    "checked from the start": edited(more="healthCheck: {startPeriod: 0}"),
    "memory below the reservation": edited(more="memory: {limit: 2G, reservation: 3G}"),
    "memory below Docker's least": edited(
        more=(
            "memory: {limit: 1M, reservation: 1M}\n"
            "postgresql: {parameters: {shared_buffers: 128kB}}"
        )
    ),
    "tmpfs too small": edited(more="tmpfs: {run: 4K}"),
    "no time": edited(more="healthCheck: {interval: 0}"),
    "check timeout above interval": edited((PROXY, "    image: p:3\n    check: {interval: 1s}\n")),
    "proxies' delay below their checks": edited(
        (PROXY, "    image: p:3\n    update: {delay: 5s}\n")
    ),
    "short grace": edited(more="stopGracePeriod: 5s"),
    "no proxy nodes": edited((PROXY, "    image: p:3\n    nodes: []\n")),
    "proxy node twice": edited(
        (PROXY, "    image: p:3\n    nodes:\n      - node2\n      - node2\n")
    ),
    "same label": edited(more="nodeLabels: {proxy: pg-node}"),
    "label with a space": edited(more="nodeLabels: {proxy: pg node}"),
    "same secret": edited(more="secrets: {superuser: pg_replication_pw}"),
    "bad secret name": edited(more="secrets: {superuser: a b}"),
    "overlay overlaps": edited(more="network: {subnet: 10.77.0.0/25}"),
    # parameters
    "unknown parameter": edited(more="postgresql:\n  parameters:\n    max_conections: 100"),
    "hopeless parameter": edited(more="postgresql: {parameters: {xyzzy: 1}}"),
    "parameter out of range": edited(more="postgresql: {parameters: {work_mem: 1kB}}"),
    "parameter without bound": edited(more="postgresql: {parameters: {random_page_cost: -1}}"),
    "parameter's unit": edited(more="postgresql: {parameters: {work_mem: 4mb}}"),
    "parameter's time unit": edited(
        more="postgresql: {parameters: {statement_timeout: 5 minutes}}"
    ),
    "parameter without unit": edited(more="postgresql: {parameters: {max_connections: 5MB}}"),
    "parameter not a switch": edited(more="postgresql: {parameters: {jit: maybe}}"),
    "parameter's word": edited(more="postgresql: {parameters: {wal_level: logicl}}"),
    "parameter nothing": edited(more="postgresql:\n  parameters:\n    work_mem:"),
    "parameter a list": edited(more="postgresql: {parameters: {work_mem: [1]}}"),
    "parameter of Patroni": edited(
        more=(
            "postgresql: {parameters: {port: 5433, listen_addresses: '*', cluster_name: x, "
            "primary_conninfo: x, hba_file: x}}"
        )
    ),
    "parameter for a restore": edited(more="postgresql: {parameters: {recovery_target_time: x}}"),
    "hot_standby off": edited(more="postgresql: {parameters: {hot_standby: off}}"),
    "wal_level minimal": edited(more="postgresql: {parameters: {wal_level: minimal}}"),
    "md5": edited(more="postgresql: {parameters: {password_encryption: md5}}"),
    "full_page_writes off": edited(more="postgresql: {parameters: {full_page_writes: false}}"),
    "below Patroni's minimum": edited(
        more="postgresql: {parameters: {max_wal_senders: 2, wal_keep_size: 1MB}}"
    ),
    "too few slots": edited((THIRD, SEVEN)),
    "all connections reserved": edited(
        more="postgresql: {parameters: {max_connections: 25, superuser_reserved_connections: 25}}"
    ),
    "shared_buffers above memory": edited(more="postgresql: {parameters: {shared_buffers: 2GB}}"),
    "TLS without certificates": edited(more="postgresql: {parameters: {ssl: on}}"),
    "unprintable parameter": edited(more='postgresql: {parameters: {application_name: "a\\nb"}}'),
    **ACCESS_RULE_CASES,
    # day two
    "primary unknown": edited(more="primary: member-4"),
    "primary misspelt": edited(more="primary: member2"),
    "primary nobody": edited(more="primary: nonesuch"),
    "primary not text": edited(more="primary: 2"),
    "primary a list": edited(more="primary: [member-1]"),
    "primary in maintenance": edited(more="primary: member-2\nmaintenance:\n  nodes:\n    - node3"),
    "acceptLoss of nobody": edited(more="acceptLoss: {leader: member-4, timeline: 2}"),
    "acceptLoss without timeline": edited(more="acceptLoss: {leader: member-2}"),
    "acceptLoss of timeline 0": edited(more="acceptLoss: {leader: member-2, timeline: 0}"),
    "replaceAfter without spares": edited(more="replaceAfter: 30m"),
    "replaceAfter too short": edited(more="replaceAfter: 10s\nspareNodes:\n  - node5"),
    "spareNodes without replaceAfter": edited(more="spareNodes:\n  - node5"),
    "spareNodes twice the same": edited(
        more="replaceAfter: 30m\nspareNodes:\n  - node5\n  - node5"
    ),
    "failback unknown": edited(more="failback: automatc"),
    "failback a switch": edited(more="failback: true"),
    "failback without primary": edited(more="failback: automatic"),
    "failback at once": edited(more="primary: member-1\nfailback:\n  mode: automatic\n  after: 1s"),
    "failback's field": edited(more="failback: {mode: manual, afer: 10m}"),
    "failback's mode": edited(more="failback: {mode: 5}"),
    "fastSwitchover a word": edited(more="fastSwitchover: on"),
    "reconcile unknown": edited(more="reconcile: pause"),
    "reconcile a switch": edited(more="reconcile: false"),
    "reconcile nothing": edited(more="reconcile:"),
    "reconcile without state": edited(more="reconcile: {until: 2026-12-01T06:00Z}"),
    "reconcile a list": edited(more="reconcile: [paused]"),
    "promotion unknown": edited(more="promotion:\n  state: off"),
    "until without zone": edited(more="promotion: {state: paused, until: 2026-12-01T06:00}"),
    "until a date": edited(more="promotion: {state: paused, until: 2026-12-01}"),
    "until no such day": edited(more="promotion: {state: paused, until: 2026-02-30T06:00Z}"),
    "until a duration": edited(more="promotion: {state: paused, until: 2h}"),
    "until a number": edited(more="reconcile: {state: paused, until: 20261201}"),
    "until a week": edited(more="reconcile: {state: paused, until: 2026-W49-2T06:00Z}"),
    "until before the calendar": edited(
        more="reconcile: {state: paused, until: 0001-01-01T00:00+14:00}"
    ),
    "until of active": edited(more="reconcile:\n  state: active\n  until: 2026-12-01T06:00Z"),
    "maintenance a list": edited(more="maintenance: [node3]"),
    "maintenance's nodes a word": edited(more="maintenance: {nodes: node3}"),
    "maintenance of an unknown node": edited(
        more="maintenance:\n  nodes:\n    - node3\n    - node5"
    ),
    "maintenance of a node far from any": edited(more="maintenance: {nodes: [db-a]}"),
    "maintenance of a node twice": edited(more="maintenance:\n  nodes:\n    - node3\n    - node3"),
    "maintenance of a member's name": edited(more="maintenance: {nodes: [member-2]}"),
    "maintenance of all": edited(more="maintenance: {nodes: [node2, node3, node4]}"),
    "maintenance of the only one": edited(
        (SECOND + THIRD, ""), more="maintenance: {nodes: [node2]}"
    ),
    "maintenance without nodes": edited(more="maintenance:\n  until: 2026-12-01T06:00Z"),
    "maintenance while paused": edited(more="reconcile: paused\nmaintenance: {nodes: [node4]}"),
    "canary a switch": edited(more="canary: true"),
    "canary's word": edited(more="canary: {enabled: yes}"),
    # roles and databases
    **DATABASES_CASES,
    # the virtual address
    **VIP_CASES,
    **REPLICATION_CASES,
    **BACKUP_CASES,
    **RESTORE_CASES,
    # together
    "all at once": edited(
        ("main", "Main"),
        ("10.77.0.0/24", "10.77.0.0"),
        ("member-2", "member-1"),
        ("node4}", "node4, adress: x}"),
        more="patroni: {ttl: 25s}\nmemory: {limit: 1G}\nreplicas: 2",
    ),
    "same name twice": f"{BASE}---\n{BASE}",
    **APP_CASES,
    **EDGE_CASES,
}
