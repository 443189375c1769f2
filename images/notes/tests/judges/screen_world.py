"""A workspace of a small team, with an object of each kind that a screen can show."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.editing import Editor, typed
from tests.imported import PNG
from tests.replica import Client
from tests.uploads import attach
from tests.workspace import grant, page, space
from tests.zips import imported, zipped

WORD = "release"
PLAN = """We release every second Tuesday. This page says **who does what**, and when; if something
is missing, write it down here.

# Before the release

- [x] Translations are complete
- [x] The upgrade from the last release was tried
- [ ] Screenshots of the guide are new

# Who does what

| Step | Who | When |
| --- | --- | --- |
| Freeze the branch | Ada | Thursday |
| Write the notes | Grace | Friday |
| Publish | Katherine | Tuesday, 10:00 |

> If the tests of a release fail twice, it waits for the next one.[^1]

# Publish

1. Tag the commit.
2. Start the pipeline, and wait for the images:

```sh
make release VERSION=2.4.0
```

3. Tell the team in the [handbook](https://handbook.example/).

[^1]: Decided in March, after the release that nobody wanted.
"""
NOTES = """Ada, Grace and Katherine.

# Decided

- The **release** of June has no new screens.
- Support answers within a day.

Next meeting in two weeks.
"""
PLACE = "The team meets every Monday.\n\nBring your questions to the kitchen.\n"
TEXT = (
    "# Heading\n\nSome **bold** [link](https://a.example/) `code`\n\n- [x] done\n\n"
    "```py\nx = 1\n```\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n> quoted\n"
    "\na[^1] <x-y> `z`\n\n<div>\n\n- [ ] a\n- b\n\n# Main\n\n# Files\n\n[^1]: A note.\n\n"
)
PREVIEWED = (
    ("Interviews.md", b"# Interviews\n\n[Notes](notes.md) ![a sketch](Interviews/sketch.png)\n"),
    ("Interviews/sketch.png", PNG),
    ("Interviews/Ada.md", b"She writes every day.\n"),
    ("Interviews/Grace.md", b"She reads every day. [[Ada]]\n"),
    ("Measurements/2026/Sign-up.md", "Größe\n".encode("cp1252")),
    ("Measurements/2026/raw.csv", b"a,b\n"),
    (".DS_Store", b"x"),
)
LOGO = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="48" height="48">'
    b'<rect width="48" height="48" rx="10" fill="#e8a200"/><path d="M12 12h10a4 4 0 0 1 4 4v20a4 4'
    b' 0 0 0-4-4H12zM36 12H26v24h10z" fill="#fff"/></svg>'
)
WRITING = "How a text of the team comes about, and who reads it before everybody does.\n"
HOLIDAYS = "Thirty days a year. Tell the team two weeks before, and enter them in the calendar.\n"
FIRST_DAY = """Welcome! Your first day has two meetings, and the team knows that you are coming.
Somebody shows you around, and nobody expects you to remember all of it.

# In the morning

Ring at the second door; Grace opens it. She has your keys and your computer.

| When | What | With whom |
| --- | --- | --- |
| 9:30 | Coffee, and a walk through the house | Grace |
| 11:00 | How we plan a [release](https://plan.example/) | Ada |
| 12:30 | Lunch with the team | Everybody |

# In the afternoon

- [ ] Sign in, and write your name into a page
- [ ] Read how we write
- [ ] Change **one** thing in this handbook

> Whatever you had to ask on your first day is missing here: write it down.

# On the second day

You choose something small from the board, and somebody works at it with you.
"""
GUIDE = (
    "Begin with their last day at work.\n\n# Questions\n\n- What took the longest?\n- Who helped?\n"
)
LONG = "How we write, from the first draft of a text to the day on which everybody has read it"


def furnish(client: Client) -> dict[str, str]:
    """Creates the workspace; returns the ids that the screens' addresses name.

    Grace, a second user, may edit its spaces.
    """
    grace = {"email": "grace@example.org", "name": "Grace Hopper", "password": "password of mine"}
    client.user_id = client.ok("POST", "/api/v1/users", grace)["id"]  # type: ignore[attr-defined]
    grace_id = client.user_id  # type: ignore[attr-defined]
    members = [client.user_id, client.ok("GET", "/api/v1/me")["id"]]  # type: ignore[attr-defined]
    client.ok("POST", "/api/v1/groups", {"name": "Writers", "members": members})
    home = space(client, name="Product", description="Plans, releases and what we learned")
    others = [
        space(client, name="Handbook", description="How we work together"),
        space(client, name="Research", description="Interviews and measurements"),
    ]
    for one in (home, *others):
        grant(client, f"/api/v1/spaces/{one}/members", editor=client)
    ids = {"space": home, "word": WORD, "site": others[0], "grace": grace_id}
    domain = {"domain": "handbook.example.org", "public": True}
    client.ok("PATCH", f"/api/v1/spaces/{others[0]}", domain)
    client.ok("DELETE", f"/api/v1/spaces/{others[0]}/domain/approval")
    links = [{"label": "First day", "url": "/search?q=first"},
             {"label": "Shop", "url": "https://shop.example/"}]  # fmt: skip
    look = {"base_version": 0, "accent": "#e8a200", "links": links}
    client.ok("PUT", f"/api/v1/spaces/{others[0]}/look", look)
    binary = {"content-type": "application/octet-stream"}
    logo = client.put(f"/api/v1/spaces/{others[0]}/logo", content=LOGO, headers=binary)
    assert logo.status_code == 200, logo.text
    client.ok("PATCH", f"/api/v1/spaces/{others[1]}", {"domain": "research.example.org"})
    ids["page"] = page(client, home, "Release plan", markdown="We release on Tuesdays.\n")
    client.ok("PUT", f"/api/v1/nodes/{ids['page']}", {"base_version": 1, "markdown": PLAN})
    below = page(client, home, "Release 2.4", parent_id=ids["page"], markdown=NOTES)
    page(client, home, "Screenshots of the guide", parent_id=below, markdown="Since 2.3.\n")
    page(client, home, "Release 2.3", parent_id=ids["page"], markdown="Released in May.\n")
    meetings = page(client, home, "Meetings", markdown="Every second Monday.\n")
    link = f"See the [plan of the release](/p/{ids['page']}).\n"
    ids["minutes"] = page(client, home, "12 May", parent_id=meetings, markdown=link + "\n" + NOTES)
    talk_about(client, ids["minutes"])
    tell(client, meetings, ids["minutes"])
    ids["guide"] = page(client, home, "Interview guide", markdown=GUIDE)
    write_together(client, ids["guide"])
    ids["blocks"] = page(client, home, "Every kind of block", markdown=TEXT)
    ids["draft"] = page(client, home, "Ideas", markdown="A shorter form for sign-up.\n")
    ids["doubt"] = page(client, home, "Where we meet", markdown=PLACE)
    ids["empty"] = page(client, home, LONG)
    for title in ("Writing", "Holidays", "First day"):
        ids["first_day"] = page(client, others[0], title, markdown="Words.\n")
    ids["gone"] = page(client, home, "Old roadmap", markdown="Until last year.\n")
    client.ok("DELETE", f"/api/v1/nodes/{ids['gone']}")
    attach(client, ids["page"], "checklist.txt", b"Tag, build, publish.\n", "text/plain")
    attach(client, ids["page"], "logo.png", PNG, "image/png")
    client.ok("POST", f"/api/v1/nodes/{ids['page']}/comments", {"body": "Who writes the notes?"})
    for one in (ids["page"], meetings):
        client.ok("PUT", f"/api/v1/nodes/{one}/favourite")
    shares = f"/api/v1/nodes/{ids['page']}/shares"
    ids["share"] = _path(client.ok("POST", shares, {})["url"])
    for _ in range(3):
        assert client.get(ids["share"]).status_code == 200
    ids["guarded"] = _path(client.ok("POST", shares, {"password": "open sesame"})["url"])
    katherine = {"email": "katherine@example.org", "name": "Katherine Johnson"}
    rights = {"spaces": [{"space_id": home, "role": "editor"}]}
    ids["invitation"] = _path(client.ok("POST", "/api/v1/invitations", katherine | rights)["url"])
    files = (("Interviews.md", b"# Interviews\n\nFive people.\n"), ("sketch.bin", b"\0"))
    ids["import"] = imported(client, others[1], zipped(*files))["id"]
    ids["research"] = others[1]
    ids["preview"] = imported(client, others[1], zipped(*PREVIEWED), preview="true")["id"]
    return ids


def publish(client: Client, ids: Mapping[str, str]) -> str:
    """Serves the site of the handbook, with text on its pages; returns its domain."""
    domain, home = "handbook.example.org", f"/api/v1/spaces/{ids['site']}"
    texts = {"Writing": WRITING, "Holidays": HOLIDAYS, "First day": FIRST_DAY}
    for node in client.ok("GET", f"{home}/tree"):
        change = {"base_version": 1, "markdown": texts[node["title"]]}
        client.ok("PUT", f"/api/v1/nodes/{node['id']}", change)
    for title in ("Your keys", "Your computer"):
        page(client, ids["site"], title, parent_id=ids["first_day"], markdown="Ask Grace.\n")
    client.ok("PATCH", home, {"site_enabled": True})
    client.ok("PUT", f"{home}/domain/approval", {"domain": domain})
    return domain


@contextmanager
def as_grace(client: Client) -> Iterator[None]:
    """Lets Grace be signed in, and afterwards again who was."""
    kept = dict(client.jar)
    client.jar.clear()
    client.log_in("grace@example.org", "password of mine")
    yield
    client.jar.clear()
    client.jar.update(kept)


def tell(client: Client, changed: str, talked: str) -> None:
    """Lets Grace do what the first user gets notifications of: a change, a comment, a mention."""
    ada = client.ok("GET", "/api/v1/me")["id"]
    text = {"base_version": 1, "markdown": "Every second Monday, at ten.\n"}
    url = f"/api/v1/nodes/{talked}/comments"
    with as_grace(client):
        client.ok("PUT", f"/api/v1/nodes/{changed}", text)
        client.ok("POST", url, {"body": "I cannot come on the 26th."})
        client.ok("POST", url, {"body": f"[@Ada](mention:{ada}), can you take the notes then?"})


def write_together(client: Client, made: str) -> None:
    """Edits the guide: the first user writes two sentences, then Grace one."""
    Editor(client, made).write(typed("Five people, half an hour each. "))
    Editor(client, made).write(typed("We listen more than we speak. "))
    with as_grace(client):
        Editor(client, made).write(typed("Ask before you record. "))


def talk_about(client: Client, made: str) -> None:
    """Comments on the minutes: an open thread on a passage, one whose passage is gone, one done."""
    url = f"/api/v1/nodes/{made}/comments"
    first = client.ok("POST", url, {"body": "Also on Sundays?", "quote": "answers within a day"})
    client.ok("POST", url, {"body": "Only for outages.", "parent_id": first["id"]})
    client.ok("POST", url, {"body": "Who takes that over?", "quote": "Kept for the next meeting"})
    done = client.ok("POST", url, {"body": "A typo.", "quote": "Next meeting"})["id"]
    client.ok("PATCH", f"/api/v1/comments/{done}", {"resolved": True})


def _path(url: str) -> str:
    return url.partition("example.org")[2]
