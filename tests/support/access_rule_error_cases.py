"""Mistakes in access rules (see `error_cases`)."""

from tests.support.documents import edited

ACCESS_RULE_CASES: dict[str, str] = {
    "rule empty": edited(more="postgresql: {accessRules: ['']}"),
    "rule type": edited(more="postgresql: {accessRules: [hots all all all reject]}"),
    "rule too short": edited(more="postgresql: {accessRules: [host all all]}"),
    "rule method": edited(
        more="postgresql: {accessRules: [host all all 192.168.0.0/24 scram-sha256]}"
    ),
    "rule md5": edited(more="postgresql: {accessRules: [host all all 192.168.0.0/24 md5]}"),
    "rule host bits": edited(
        more="postgresql: {accessRules: [host all all 192.168.0.1/24 scram-sha-256]}"
    ),
    "rule bad network": edited(
        more="postgresql: {accessRules: [host all all 192.168.0.0/40 scram-sha-256]}"
    ),
    "rule no prefix": edited(
        more="postgresql: {accessRules: [host all all 192.168.0.1 scram-sha-256]}"
    ),
    "rule bad host": edited(
        more="postgresql: {accessRules: ['host all all 192.168.0.300 scram-sha-256']}"
    ),
    "rule peer for host": edited(more="postgresql: {accessRules: [host all all all peer]}"),
    "rule comment": edited(more="postgresql: {accessRules: ['host all all all reject # x']}"),
    "rule option": edited(
        more="postgresql: {accessRules: [host all all 192.168.0.0/24 ldap server]}"
    ),
    "rule open quote": edited(
        more="""postgresql: {accessRules: ['host "all all 192.168.0.0/24 reject']}"""
    ),
    "rule two lines": edited(more='postgresql: {accessRules: ["host a\\nb"]}'),
    "rule trust": edited(more="postgresql: {accessRules: [host all all 192.168.0.0/24 trust]}"),
    "rule password": edited(
        more="postgresql: {accessRules: [host all all 192.168.0.0/24 password]}"
    ),
    "rule never reached": edited(
        more=(
            "postgresql:\n  accessRules:\n    - host all all 10.1.0.0/16 reject\n"
            "    - host a b 10.77.0.4/32 reject\n    - host a b 172.17.0.0/16 reject\n"
            "    - local a b reject"
        )
    ),
    "rule is a number": edited(more="postgresql: {accessRules: [5]}"),
}
