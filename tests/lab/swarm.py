"""Makes one swarm out of nodes that are up, and reads the manager's view of it.

Level-triggered: every step looks at what is there first, so a half-formed swarm is completed and
a whole one is left alone.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any

from tests.lab.engine import EngineError
from tests.lab.node import Node
from tests.lab.settings import LabError
from tests.lab.shell import say

_READY_TIMEOUT_S = 60.0
#: A worker that has its session anew is Ready within a few seconds, 8 s when rate-limited.
_PATIENCE_S = 25.0
_SWARM_PORT = 2377


def ensure_swarm(nodes: Sequence[Node]) -> None:
    """Make the first node the manager and the others its workers, and wait until all are Ready."""
    manager, *workers = nodes
    _ensure_manager(manager)
    token = manager.engine.get("/swarm")["JoinTokens"]["Worker"]
    known = {str(entry["ID"]) for entry in manager.engine.get("/nodes")}
    if workers:
        with ThreadPoolExecutor(len(workers)) as pool:
            list(pool.map(lambda worker: _ensure_worker(worker, manager, token, known), workers))
    _await_or_power_cycle(nodes)
    _forget_strangers(nodes)


def _await_or_power_cycle(nodes: Sequence[Node]) -> None:
    """Wait until all are Ready; a worker that stays away is switched off and on, once.

    An engine whose daemon was killed while its session was being set up now and then stays Down
    for good although it answers; a person would restart it too.
    """
    with contextlib.suppress(LabError):
        wait_ready(nodes, _PATIENCE_S)
    seen = states(nodes[0])
    for worker in nodes[1:]:
        if seen.get(worker.name) != "ready":
            say(f"{worker.name} is {seen.get(worker.name, 'missing')}: switching it off and on")
            worker.power_cut()
            worker.start()
    wait_ready(nodes)


def wait_ready(nodes: Sequence[Node], timeout_s: float = _READY_TIMEOUT_S) -> None:
    """Wait until the manager sees every one of the nodes Ready; LabError after `timeout_s`."""
    wait_for_states(nodes[0], {node.name: "ready" for node in nodes}, timeout_s)


def wait_for_states(manager: Node, wanted: dict[str, str], timeout_s: float) -> None:
    """Wait until the manager sees the nodes in these states (`ready`, `down`)."""
    seen: dict[str, str] = {}

    def reached() -> bool:
        nonlocal seen
        seen = states(manager)
        return all(seen.get(name) == state for name, state in wanted.items())

    _await(reached, timeout_s, lambda: f"nodes to be {wanted}; the manager sees {seen}")


def states(manager: Node) -> dict[str, str]:
    """The manager's view: node name -> `ready`, `down`, `unknown`; empty if it does not answer."""
    return {name: str(entry["Status"]["State"]) for name, entry in entries(manager).items()}


def entries(manager: Node) -> dict[str, dict[str, Any]]:
    """The manager's own entry of each node by host name, a Ready one before an old one."""
    try:
        listed = manager.engine.get("/nodes", timeout_s=3)
    except (OSError, EngineError, HTTPException):
        return {}
    found: dict[str, dict[str, Any]] = {}
    for entry in sorted(listed, key=lambda e: bool(e["Status"]["State"] == "ready")):
        name = entry.get("Description", {}).get("Hostname")
        if name:
            found[str(name)] = entry
    return found


def _ensure_manager(manager: Node) -> None:
    _settle(manager)
    state = _membership(manager)
    if state["LocalNodeState"] == "locked":
        raise LabError(f"the swarm of {manager.name} is locked: unlock it or reset the lab")
    if state["LocalNodeState"] == "active" and state.get("ControlAvailable"):
        return
    if state["LocalNodeState"] != "inactive":
        manager.engine.post("/swarm/leave?force=1")
    manager.engine.post(
        "/swarm/init",
        {
            "ListenAddr": f"0.0.0.0:{_SWARM_PORT}",
            "AdvertiseAddr": manager.address,
            "Spec": {},
        },
    )


def _ensure_worker(worker: Node, manager: Node, token: str, known: set[str]) -> None:
    state = _membership(worker)
    if state["LocalNodeState"] != "inactive":
        if state.get("NodeID") in known:
            return
        worker.engine.post("/swarm/leave?force=1")
    worker.engine.post(
        "/swarm/join",
        {
            "ListenAddr": f"0.0.0.0:{_SWARM_PORT}",
            "AdvertiseAddr": worker.address,
            "RemoteAddrs": [f"{manager.address}:{_SWARM_PORT}"],
            "JoinToken": token,
        },
    )


def _forget_strangers(nodes: Sequence[Node]) -> None:
    """Remove entries of nodes that joined anew or are no longer part of the lab."""
    ours = {str(_membership(node).get("NodeID")) for node in nodes}
    for entry in nodes[0].engine.get("/nodes"):
        if entry["ID"] not in ours and entry["Status"]["State"] == "down":
            nodes[0].engine.delete(f"/nodes/{entry['ID']}?force=1")


def _settle(manager: Node) -> None:
    """A manager that has just booted needs a moment to lead its own Raft again."""

    def settled() -> bool:
        state = _membership(manager)
        if state["LocalNodeState"] != "active" or not state.get("ControlAvailable"):
            return bool(state["LocalNodeState"] != "pending")
        return bool(states(manager))

    _await(settled, _READY_TIMEOUT_S, lambda: f"{manager.name} to lead its swarm")


def _membership(node: Node) -> dict[str, Any]:
    return dict(node.engine.get("/info")["Swarm"])


def _await(condition: Callable[[], bool], timeout_s: float, what: Callable[[], str]) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"waited {timeout_s:.0f} s for {what()}")
        time.sleep(0.05)
