"""Lines of pg_hba.conf: which PostgreSQL takes, and where they end up."""

from ipaddress import IPv4Network

import pytest

from queenright.core.postgres.hba import Rule, access_rules, parse_rule, warning

LAN = IPv4Network("10.77.0.0/24")

TAKEN = [
    "host all all 192.168.0.0/24 scram-sha-256",
    "host   shop,orders  app  192.168.0.0/24   scram-sha-256",
    "host shop, orders app 192.168.0.0/24 scram-sha-256",
    'host "my db" "My User" samenet reject',
    "host all all 192.168.0.0 255.255.255.0 scram-sha-256",
    "host all all db.example.com scram-sha-256",
    "host all all .example.com scram-sha-256",
    "hostssl all all all cert clientcert=verify-full",
    "hostnossl all all ::/0 reject",
    'host all all 192.168.0.0/24 ldap ldapserver=ldap.example.com ldapprefix="cn="',
    "local replication replicator scram-sha-256",
    "local all all peer map=admins",
    "local all all ident",
    "host replication replicator 192.168.0.0/24 scram-sha-256",
]


@pytest.mark.parametrize("line", TAKEN)
def test_taken(line: str) -> None:
    assert isinstance(parse_rule(line), Rule)


def test_a_rule_in_its_parts() -> None:
    assert parse_rule("host a b 192.168.1.0 255.255.255.0 reject") == Rule(
        "host", "a", "b", "192.168.1.0/255.255.255.0", "reject"
    )
    assert parse_rule("local a b peer") == Rule("local", "a", "b", "", "peer")


def test_the_contracts_rules_in_their_order() -> None:
    assert access_rules(LAN, ("extra one", "extra two")) == (
        "local all postgres peer",
        "local all all scram-sha-256",
        "host replication replicator 10.77.0.0/24 scram-sha-256",
        "host replication replicator 10.0.0.0/8 scram-sha-256",
        "host all all 10.77.0.0/24 scram-sha-256",
        "host all all 10.0.0.0/8 scram-sha-256",
        "host all all 172.16.0.0/12 scram-sha-256",
        "extra one",
        "extra two",
        "host all all 0.0.0.0/0 reject",
    )


def test_the_contracts_rules_are_rules() -> None:
    for line in access_rules(LAN, ()):
        assert isinstance(parse_rule(line), Rule), line


@pytest.mark.parametrize(
    "line",
    [
        "host all all 192.168.0.0/24 scram-sha-256",
        "host all all all scram-sha-256",
        "host all all 0.0.0.0/0 scram-sha-256",
        "host all all samehost scram-sha-256",
        "host all all ::/0 reject",
        "host replication standby 10.77.0.9/32 scram-sha-256",
        "local replication standby peer",
    ],
)
def test_nothing_is_said_of_a_rule_that_can_matter(line: str) -> None:
    rule = parse_rule(line)
    assert isinstance(rule, Rule)
    assert warning(rule, LAN) is None


REFUSED = {
    "host all all 192.168.0.0/24 scram-sha-256 map=x": (
        "the method scram-sha-256 takes no map; cert, gss, ident, peer do"
    ),
    "host all all 192.168.0.0/24 reject why=x": 'the method reject takes no option "why"',
    "host all all 192.168.0.0/24 ldap ldapprefix=x": (
        "the method ldap needs the option ldapserver or ldapurl"
    ),
    "host all all 192.168.0.0/24 radius": "the method radius needs the option radiusservers",
    "host all all 192.168.0.0/24 sspi": '"sspi" is not an authentication method',
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    assert parse_rule(line) == REFUSED[line]


def test_an_encrypted_connection_is_none_of_ours() -> None:
    rule = parse_rule("hostssl all all 192.168.0.0/24 scram-sha-256")
    assert isinstance(rule, Rule)
    assert warning(rule, LAN) == (
        "never takes effect: no connection is encrypted here, so none is hostssl"
    )
    assert warning(rule, LAN, encrypts=True) is None
