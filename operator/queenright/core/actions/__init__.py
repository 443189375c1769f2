"""All actions of the operator, as values.

An action carries the data to execute it and the data of its audit record: a key that names the
action and its object, a reason, the fields it changes, and the service that it disrupts. There is
deliberately no action that removes a volume, a data directory or a secret.
"""

from __future__ import annotations

from typing import TypeAlias

from queenright.core.actions.action import Action
from queenright.core.actions.patroni import (
    AnyPatroniAction,
    Failover,
    PatchSettings,
    PatroniAction,
    Reinitialize,
    RestartPostgres,
    RestEndpoint,
    Switchover,
)
from queenright.core.actions.raft import AnyRaftAction, RaftAction, RaftRemove, RaftTransfer
from queenright.core.actions.sql import (
    AlterDatabase,
    AlterRole,
    AnySqlAction,
    CreateDatabase,
    CreateExtension,
    CreateRole,
    SqlAction,
)
from queenright.core.actions.swarm import (
    AdjustService,
    AnySwarmAction,
    CreateConfig,
    CreateNetwork,
    CreateSecret,
    CreateService,
    CreateUrlSecret,
    LabelConfig,
    LabelNode,
    NoteMembers,
    RemoveConfig,
    RemoveNetwork,
    RemoveService,
    RestartService,
    UpdateService,
)
from queenright.core.swarm.diff import FieldChange

# fmt: off
__all__ = (
    "Action",
    "AdjustService",
    "AlterDatabase",
    "AlterRole",
    "AnyAction",
    "AnyPatroniAction",
    "AnyRaftAction",
    "AnySqlAction",
    "AnySwarmAction",
    "CreateConfig",
    "CreateDatabase",
    "CreateExtension",
    "CreateNetwork",
    "CreateRole",
    "CreateSecret",
    "CreateService",
    "CreateUrlSecret",
    "Failover",
    "FieldChange",
    "LabelConfig",
    "LabelNode",
    "NoteMembers",
    "PatchSettings",
    "PatroniAction",
    "RaftAction",
    "RaftRemove",
    "RaftTransfer",
    "Reinitialize",
    "RemoveConfig",
    "RemoveNetwork",
    "RemoveService",
    "RestEndpoint",
    "RestartPostgres",
    "RestartService",
    "SqlAction",
    "Switchover",
    "UpdateService",
)
# fmt: on

AnyAction: TypeAlias = (
    AnySwarmAction | CreateUrlSecret | AnyPatroniAction | AnyRaftAction | AnySqlAction
)
