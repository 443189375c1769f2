"""The application's secrets: its key, and the connection string with the role's password in it.

Invariant: none is ever replaced or removed. A key is only made while nothing can have been
encrypted with another one; a string is another secret whenever it would be another string.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, CreateSecret, CreateUrlSecret
from queenright.core.app.situation import AppSituation
from queenright.core.plan import Hold


def plan_secrets(situation: AppSituation) -> Iterator[Action | Hold]:
    yield from plan_key(situation)
    yield from plan_url(situation)
    for name in situation.desired.given_secrets:
        if situation.swarm.secret(name) is None:
            yield Hold(
                f"secret/{name}",
                f"secret {name}, which the file names, is not in the swarm: create it (docker "
                f"secret create {name} FILE)",
                wants_attention=True,
            )


def plan_key(situation: AppSituation) -> Iterator[Action | Hold]:
    key, desired = situation.desired.key, situation.desired
    if situation.swarm.secret(key.name) is None:
        if situation.has_started:
            yield Hold(
                f"create-secret/{key.name}",
                f"secret {key.name} is gone, but {desired.name} may have encrypted "
                "credentials with it, which a new key does not open: create the secret again with "
                "its old value; or, to start anew without them, remove the config "
                f"{desired.anchor.name} and service {desired.web.name}",
                wants_attention=True,
            )
        else:
            yield CreateSecret(key, reason=f"secret {key.name} is not in the swarm")
    elif not desired.key_is_backed_up:
        yield Hold(
            f"key/{desired.name}",
            f"secret {key.name} encrypts what {desired.name} stores of credentials, and a backup "
            "of the database is worth little without it: keep a copy in another place (swarm shows "
            "a secret to its containers alone: docker exec into a replica, and read "
            "/run/secrets/app_encryption_key), then write spec.encryptionKey.backedUp: true",
            is_news=True,
        )


def plan_url(situation: AppSituation) -> Iterator[Action | Hold]:
    desired = situation.desired
    if desired.url is None or situation.swarm.secret(desired.url_secret.name):
        return
    if situation.swarm.secret(desired.password_secret) is None:
        yield Hold(
            f"secret/{desired.password_secret}",
            f"the connection string waits for secret {desired.password_secret}, which cluster "
            f"{desired.cluster} makes with its role",
        )
        return
    if not desired.url.hosts:
        yield Hold(
            f"create-secret/{desired.url_secret.name}",
            f"the address of a node of proxies.nodes of cluster {desired.cluster} is not known, so "
            "that there is no connection string to make: what is deployed stays as it is",
            wants_attention=True,
        )
        return
    yield CreateUrlSecret(
        secret=desired.url_secret,
        url=desired.url,
        password_secret=desired.password_secret,
        reason=f"no secret has the connection string {desired.url.text}",
    )
