"""A Docker engine that has a secret, and runs the service that reads it."""

from __future__ import annotations

from typing import Any

from queenright.core.swarm.objects import CLUSTER_LABEL, ROLE_LABEL
from tests.support.http_server import Answer

Json = dict[str, Any]


NAME = "pg_rest_pw"


NOW = "2026-11-20T22:00:00.123456789Z"


def service(image: str, role: str, cluster: str = "main", *secrets: str) -> Json:
    labels = {ROLE_LABEL: role} | ({CLUSTER_LABEL: cluster} if cluster else {})
    container = {"Image": image, "Secrets": [{"SecretName": name} for name in secrets]}
    return {
        "ID": f"id-of-{image}",
        "Spec": {
            "Name": image,
            "Labels": labels,
            "TaskTemplate": {"ContainerSpec": container},
        },
    }


MEMBER = service("member@sha256:1", "member", "main", NAME, "other")


PROXY = service("proxy@sha256:2", "proxy")


FOREIGN = service("foreign", "member", "", NAME)


class Engine:
    """Answers for a Docker engine on which a reader's task is in ``state``."""

    def __init__(self, state: str = "pending", words: str = "no suitable node") -> None:
        self.services = [FOREIGN, PROXY, MEMBER]
        self.readers: list[Json] = []
        self.secrets = [
            {"ID": "s2", "Spec": {"Name": f"{NAME}-2"}},
            {"ID": "s1", "Spec": {"Name": NAME}},
        ]
        self.status = {"State": state, "Err": words}
        self.created = 201

    def answer(self, method: str, path: str) -> Answer:
        _, _, what = path.removeprefix("/v1.41").partition("/")
        match method, what.split("/")[0]:
            case "GET", "version":
                return 200, {"ApiVersion": "1.41", "MinAPIVersion": "1.12"}
            case "GET", "info":
                return 200, {"SystemTime": NOW, "Swarm": {"NodeID": "me"}}
            case "GET", "secrets":
                return 200, self.secrets
            case "GET", "services":
                return 200, self.services
            case "GET", "tasks":
                return 200, [{"Status": self.status}]
            case "POST", "services":
                return self.created, {"ID": "new", "message": "not allowed"}
            case "DELETE", "services":
                return 200, {}
            case _:
                return 404, {"message": f"no such thing: {path}"}
