"""Asks a live swarm and its members what the operator asks them, and keeps the answers as they are.

Decides only what is noise: certificates and lists of plugins. Invariant: no secret's value is kept;
``without_secrets`` looks for each before anything is written.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

import anyio
import docker

from queenright.adapters.docker.client import API_VERSION, text_of
from queenright.adapters.patroni.raft_status import asked
from tests.e2e.swarm_facts import MEMBER_NODES, read_secret
from tests.lab.lab import Lab
from tests.support import web

Json = dict[str, Any]
LISTS = ("nodes", "services", "tasks", "networks", "secrets", "configs")
QUESTIONS = ("GET /patroni", "OPTIONS /primary", "GET /config", "GET /history")
REST_PORT, RAFT_PORT = 8008, 5010
TIMEOUT_S = 10
NOISE = frozenset({"TLSInfo", "Plugins", "RemoteManagers"})


def docker_answers(lab: Lab, images: Iterable[str]) -> Json:
    """Return the manager's answers to each read of a pass, and about the given images."""
    address = lab.manager.client_environment()["DOCKER_HOST"]
    sdk: Any = docker.APIClient(address, version=text_of(API_VERSION), timeout=TIMEOUT_S)
    try:
        info = sdk.info()
        found: Json = {kind: getattr(sdk, kind)() for kind in LISTS}
        found["distribution"] = {image: sdk.inspect_distribution(image) for image in images}
        found["version"] = {key: value for key, value in sdk.version().items() if "Version" in key}
    finally:
        sdk.close()
    found["info"] = {key: info[key] for key in ("Name", "ServerVersion", "Swarm")}
    quiet: Json = without_noise(found)
    return quiet


def without_noise(found: Any) -> Any:
    match found:
        case dict():
            return {key: without_noise(item) for key, item in found.items() if key not in NOISE}
        case list():
            return [without_noise(item) for item in found]
        case _:
            return found


def member_answers(lab: Lab) -> dict[str, Json]:
    """Return each member's answers, by its address."""
    return {
        lab.node(node).address: {
            "rest": {question: rest_answer(lab, node, question) for question in QUESTIONS},
            "raft": base64.b64encode(anyio.run(asked, lab.node(node).address, RAFT_PORT)).decode(),
        }
        for node in MEMBER_NODES
    }


def rest_answer(lab: Lab, node: str, question: str) -> list[Any]:
    """Status and JSON, None where there is no body."""
    method, path = question.split()
    url = f"http://{lab.node(node).address}:{REST_PORT}{path}"
    answer = web.request(method, url, timeout=TIMEOUT_S)
    return [answer.status_code, answer.json() if answer.content else None]


def without_secrets(lab: Lab, text: str, answers: Json) -> str:
    """The text; AssertionError when a secret's value is in it, or in a config."""
    configs = [base64.b64decode(raw["Spec"].get("Data") or "") for raw in answers["configs"]]
    everything = text.encode() + b"".join(configs)
    for raw in answers["secrets"]:
        assert "Data" not in raw["Spec"], raw["Spec"]["Name"]
        value = read_secret(lab, raw["Spec"]["Name"]).strip().encode()
        assert value, f"{raw['Spec']['Name']} can't be read, so nor looked for"
        for told in (value, base64.b64encode(value), json.dumps(value.decode()).encode()[1:-1]):
            assert told not in everything, f"the value of {raw['Spec']['Name']} was recorded"
    return text
