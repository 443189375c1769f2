"""Tests events after a promotion that lost transactions, whose numbers are used again."""

import time

import pytest

from tests.failover.cluster import Cluster
from tests.replica import Replica
from tests.test_events import listening
from tests.workspace import page, space

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
LOST = 30


def test_what_comes_after_lost_transactions_is_told_to_streams_old_and_new() -> None:
    with Cluster().serving() as cluster:
        cluster.leader.sql("CREATE DATABASE notes")
        origin = {"ORIGIN": "https://notes.example.org"}
        with (
            Replica(cluster.direct("notes"), origin).running() as replica,
            replica.client() as client,
        ):
            client.set_up()
            home = space(client)
            stop_following(cluster)
            with listening(client) as stream:
                for number in range(LOST):
                    page(client, home, title=f"lost {number}")
                last = stream.wait("page.made", LOST)[-1]["id"]
                cluster.cut_power_without_rebuilding()
                replica.wait_ready(20)
                made = [page(client, home, title=f"kept {number}") for number in range(3)]
                told = stream.wait("page.made", LOST + 3)[LOST:]
                assert [event["data"]["node_id"] for event in told] == made
                # What the client has read of the lost pages is to be read again.
                assert [event["event"] for event in stream.events].count("reset") == 1
            with listening(client, last) as stream:
                stream.wait("reset")
                told = stream.wait("page.made", 3)
                assert [event["data"]["node_id"] for event in told] == made


def stop_following(cluster: Cluster) -> None:
    """Stops replication: from now on the leader's transactions are lost with it, none before."""
    follows = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()"
    deadline = time.monotonic() + 10
    while cluster.leader.sql(follows) == [(0,)] and time.monotonic() < deadline:
        time.sleep(0.05)
    cluster.leader.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    cluster.leader.sql("SELECT pg_reload_conf()")
    cluster.follower.sql("ALTER SYSTEM SET primary_conninfo = ''")
    cluster.follower.sql("SELECT pg_reload_conf()")
    deadline = time.monotonic() + 10
    while cluster.leader.sql("SELECT count(*) FROM pg_stat_replication") != [(0,)]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
