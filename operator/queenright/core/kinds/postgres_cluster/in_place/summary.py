"""Words for a restore in place that has been carried out."""

from __future__ import annotations

from queenright.core.kinds.postgres_cluster.in_place.note import Restored
from queenright.core.manifest.moments import format_moment


def restored_text(cluster: str, restored: Restored) -> str:
    """Return when and to which target, and the volumes with the data before it."""
    wanted = restored.wanted
    end = f"to {wanted.target}" if wanted.target else "to the end of the archived WAL"
    volumes = ", ".join(
        f"{place.volumes or f'{cluster}_{place.name}'}-data on {place.node}"
        for place in restored.former
    )
    left = ", and left again" if restored.is_left else ""
    text = f"in place at {format_moment(wanted.at)}, {end}{left}"
    back = f"(`queenright restore {cluster} --former` goes back to them)"
    return f"{text}; the other data are in {volumes} {back}" if volumes else text
