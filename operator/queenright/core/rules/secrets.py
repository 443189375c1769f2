"""The passwords: created when missing, never shown, never replaced, never removed.

Invariant: a secret is only made while no member can have been started with another value, since a
new password does not open old data. That of the REST API opens none, and is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from queenright.core.actions import Action, CreateSecret
from queenright.core.plan import Hold
from queenright.core.situation import Situation


def plan_secrets(situation: Situation) -> Iterator[Action | Hold]:
    for secret in situation.desired.secrets:
        if situation.swarm.secret(secret.name):
            continue
        if situation.has_started and secret.name in situation.desired.data_secrets:
            yield Hold(
                f"create-secret/{secret.name}",
                f"secret {secret.name} is gone, but the cluster's data was made with it, and a new "
                "password would not open it: create the secret again with its old value; or, to "
                "start anew without the data, remove the member volumes and the config "
                f"{situation.desired.anchor.name}",
                wants_attention=True,
            )
        else:
            yield CreateSecret(secret, reason=f"secret {secret.name} is not in the swarm")
