"""Damage to the members' data, and a person who empties what is damaged."""

from __future__ import annotations

from tests.fakes.node_faults import NodeFaults
from tests.fakes.volumes import Damage, Volume

RAFT_ENDED = 81
"""The member image's exit status where Raft could not write to a full disk."""


class DataDamage(NodeFaults):
    """The part of a world that damages volumes."""

    def break_data(self, member: str) -> None:
        """The data directory of a member that does not lead is damaged."""
        leader = self.patroni_model.consensus("main").leader
        for instance in self.patroni_model.of_cluster("main"):
            if instance.service == member and not instance.volume.is_empty:
                instance.volume.is_broken = instance.name != leader

    def damage(self, member: str, kind: Damage) -> bool:
        """Damage the data of a member that does not lead, and kill its container; False where it
        leads or has none."""
        leader = self.patroni_model.consensus("main").leader
        for instance in list(self.patroni_model.of_cluster("main")):
            if instance.service == member and not instance.volume.is_empty:
                if instance.name == leader or instance.volume.is_torn:
                    return False
                instance.volume.damage = kind
                instance.volume.is_broken = kind != "no-room"
                self.kill_container(member)
                return True
        return False

    def end_raft(self, member: str) -> bool:
        """A member's disk is full while its Raft node stores a term: the node ends, and the process
        with it, where its image has that. False where it has no Raft node."""
        for instance in list(self.patroni_model.of_cluster("main")):
            if instance.service == member and instance.has_joined:
                if self.patroni_model.image_of(instance).ends_with_raft:
                    self.orchestrator.fail(instance.task, RAFT_ENDED)
                else:
                    instance.raft_has_ended = True
                return True
        return False

    def empty_data(self) -> None:
        """A person empties the damaged data directories, so that they are copied anew; not what a
        rewind has left, where that is known for what it is."""
        model = self.patroni_model
        for volume in model.volumes.values():
            if volume.damage == "no-room":
                volume.damage = ""  # a person makes room
        for key, volume in list(model.volumes.items()):
            if not volume.is_broken or (volume.is_torn and volume.damage != "files"):
                continue
            broken, model.volumes[key] = model.volumes[key], Volume()
            for instance in model.instances.values():
                if instance.volume is broken:
                    instance.volume = model.volumes[key]
                    instance.stop()

    def lose_disk(self, member: str) -> None:
        """The volumes of a member that does not run are gone, as on a new disk."""
        volumes = self.patroni_model.volumes
        for key in [key for key in volumes if key[1].startswith(f"{member}-")]:
            del volumes[key]
