"""The application's secrets: its key, and the connection string with the role's password in it.

Invariant: none is ever replaced or removed. A key is only made while nothing can have been
encrypted with another one; a string is another secret whenever it would be another string.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import AnyAction, CreateSecret, CreateUrlSecret
from queenright.core.kinds.notes_app.state import AppState
from queenright.core.planning.plan import Hold


def plan_secrets(state: AppState) -> Iterator[AnyAction | Hold]:
    yield from plan_key(state)
    yield from plan_url(state)
    for name in state.desired.given_secrets:
        if state.swarm.secret(name) is None:
            yield Hold(
                f"secret/{name}",
                f"secret {name}: is not in the swarm, and the file names it; create it (docker "
                f"secret create {name} FILE)",
                wants_attention=True,
            )


def plan_key(state: AppState) -> Iterator[AnyAction | Hold]:
    key, desired = state.desired.key, state.desired
    if state.swarm.secret(key.name) is None:
        if state.has_started:
            yield Hold(
                f"create-secret/{key.name}",
                f"secret {key.name}: is not in the swarm, but {desired.name} may have encrypted "
                "credentials with it (a new key does not open them); create the secret again with "
                "its old value, or, to start anew without them, remove the config "
                f"{desired.state_config.name} and service {desired.web.name}",
                wants_attention=True,
            )
        else:
            yield CreateSecret(key, reason=f"secret {key.name} is not in the swarm")
    elif not desired.key_is_backed_up:
        yield Hold(
            f"key/{desired.name}",
            f"secret {key.name}: no copy of it is confirmed (a restored database needs it to open "
            "encrypted credentials); keep a copy in another place (docker exec into a replica: cat "
            "/run/secrets/app_encryption_key), then write spec.encryptionKey.backedUp: true",
            is_informational=True,
        )


def plan_url(state: AppState) -> Iterator[AnyAction | Hold]:
    desired = state.desired
    if desired.url is None or state.swarm.secret(desired.url_secret.name):
        return
    if state.swarm.secret(desired.password_secret) is None:
        yield Hold(
            f"secret/{desired.password_secret}",
            f"connection string: waits for secret {desired.password_secret}, which cluster "
            f"{desired.cluster} creates with the role",
        )
        return
    if not desired.url.hosts:
        yield Hold(
            f"create-secret/{desired.url_secret.name}",
            "connection string: not created, so what is deployed stays as it is (the address of a "
            f"node in proxies.nodes of cluster {desired.cluster} is not known)",
            wants_attention=True,
        )
        return
    yield CreateUrlSecret(
        secret=desired.url_secret,
        url=desired.url,
        password_secret=desired.password_secret,
        reason=f"no secret has the connection string {desired.url.text}",
    )
