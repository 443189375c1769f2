"""The images that were pushed to each registry: what this machine has noted, and what is there."""

import json
import urllib.request
from pathlib import Path

_MANIFEST_TYPES = (
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.oci.image.manifest.v1+json"
)


class PushedImages:
    """The images pushed to each address, kept on disk; if the registry disagrees, it is right.

    An image is known by its `reference` and by a digest of its `inputs`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, registry: str, reference: str, inputs: str) -> bool:
        pushed = self._read().get(f"{registry}/{reference}", {})
        return (
            pushed.get("inputs") == inputs
            and bool(pushed.get("manifest"))
            and registry_digest(registry, reference) == pushed["manifest"]
        )

    def add(self, registry: str, reference: str, inputs: str, manifest: str) -> None:
        entry = {"inputs": inputs, "manifest": manifest}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        kept = self._read() | {f"{registry}/{reference}": entry}
        self._path.write_text(json.dumps(kept, indent=1, sort_keys=True))

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            kept = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}


def registry_digest(registry: str, reference: str) -> str | None:
    """The manifest digest that a plain-HTTP registry has under a name, None when it has none."""
    name, _, tag = reference.partition(":")
    request = urllib.request.Request(
        f"http://{registry}/v2/{name}/manifests/{tag}",
        method="HEAD",
        headers={"Accept": _MANIFEST_TYPES},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=5) as answer:
            return str(answer.headers.get("Docker-Content-Digest"))
    except OSError:
        return None
