"""The pages, files and report of an import, by title and name."""

import base64

from tests.replica import Client
from tests.workspace import space
from tests.zips import imported

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Imported:
    """The pages, files and report of an import."""

    def __init__(self, client: Client, content: bytes, **query: str) -> None:
        self.client = client
        self.home = space(client)
        self.job = imported(client, self.home, content, **query)
        assert self.job["state"] == "done", self.job
        nodes = client.ok("GET", f"/api/v1/spaces/{self.home}/tree")
        self.ids = {n["title"]: n["id"] for n in nodes}
        names = {n["id"]: n["title"] for n in nodes}
        self.above = {n["title"]: names.get(n["parent_id"]) for n in nodes}
        self.lines = client.ok("GET", f"/api/v1/jobs/{self.job['id']}/report")

    def text(self, title: str) -> str:
        """A page's Markdown, with titles and names instead of ids."""
        found = self.client.get(f"/api/v1/nodes/{self.ids[title]}/markdown").text
        for name, node in self.ids.items():
            found = found.replace(f"/p/{node}", f"PAGE:{name}")
            for file in self.client.ok("GET", f"/api/v1/nodes/{node}/attachments"):
                found = found.replace(f"/api/v1/attachments/{file['id']}", f"FILE:{file['name']}")
        return found

    def files(self, title: str) -> list[str]:
        listed = self.client.ok("GET", f"/api/v1/nodes/{self.ids[title]}/attachments")
        return sorted(file["name"] for file in listed)

    def notes(self, path: str) -> str:
        return "; ".join(next(i["notes"] for i in self.lines if i["path"] == path))

    def outcome(self, path: str) -> str:
        return next(i["outcome"] for i in self.lines if i["path"] == path)
