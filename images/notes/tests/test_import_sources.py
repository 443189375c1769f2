"""Tests imports of Obsidian's and Notion's exports.

The archives have the structures that these sources describe or create:
- Obsidian: its help pages "Internal links", "Embed files", "Callouts", "Properties", "Aliases";
- Notion: its help page "Export your content"; the importers of obsidian-importer and AppFlowy and
  their issues (nested `Part-1.zip`, `_all.csv`, ids of 32 digits, HTML classes).
"""

import base64
import unicodedata
from typing import Any

import pytest

from tests.imported import PNG, Imported
from tests.replica import Client
from tests.zips import zipped

ID = {name: f"{number:032x}" for number, name in enumerate("abcdef", 0x1234567890ABCDEF)}


def vault() -> bytes:
    return zipped(
        ("Vault/.obsidian/app.json", b"{}"),
        ("Vault/.obsidian/plugins/x/main.js", b"x"),
        ("Vault/.trash/Old.md", b"gone"),
        (
            "Vault/Home.md",
            "---\ntags: [start, läuft]\naliases:\n  - Startseite\n  - The Start\ndate: 2024-01-02\n"
            "---\n# Home\n\n"
            "[[Ideas]] and [[Ideas|my *ideas*]] and [[Projects/Plan#Next steps|next]] [[#Home]]\n\n"
            "![[cat.png|300]] ![[Ideas]] ![[paper.pdf]] [[Nowhere]] `[[Ideas]]` #tag\n\n"
            "> [!warning]- Mind the *gap*\n> really\n> > [!note]\n> > inner\n\n"
            "A ==marked== word. ^block-1\n\n"
            "```\n[[Ideas]] ==x==\n```\n\n"
            "| a | b |\n| --- | --- |\n| [[Ideas\\|in a table]] | x |\n\n"
            "[rel](Projects/Plan.md) [enc](Projects/My%20caf%C3%A9.md#caf%C3%A9)\n".encode(),
        ),
        ("Vault/Ideas.md", b"Back [[Startseite]] and [[the start|s]]. ![alt](assets/cat.png)\n"),
        ("Vault/Projects/Plan.md", b"# Next steps\n\n[up](../Ideas.md) [[home]] [[../Ideas]]\n"),
        (unicodedata.normalize("NFD", "Vault/Projects/My café.md"), "[[My café]]\n".encode()),
        ("Vault/assets/cat.png", PNG),
        ("Vault/assets/paper.pdf", b"%PDF-"),
        ("Vault/Board.canvas", b"{}"),
    )


def test_an_obsidian_vault(admin: Client) -> None:
    done = Imported(admin, vault())
    assert done.job["result"]["source"] == "an Obsidian vault"
    assert done.above == {
        "Vault": None, "Home": "Vault", "Ideas": "Vault", "Projects": "Vault", "Plan": "Projects",
        "My café": "Projects",
    }  # fmt: skip
    home = done.text("Home")
    assert "| tags | start, läuft |" in home
    assert "| aliases | Startseite, The Start |" in home
    assert "[Ideas](PAGE:Ideas) and [my \\*ideas\\*](PAGE:Ideas)" in home
    assert "[next](PAGE:Plan#next-steps)" in home
    assert "[Home](#home)" in home
    assert "![](FILE:cat.png) [Ideas](PAGE:Ideas) [paper.pdf](FILE:paper.pdf)" in home
    assert "[Nowhere]" not in home
    assert "Nowhere\\]\\]" in home or "[[Nowhere]]" in home
    assert "`[[Ideas]]`" in home
    assert "[!" not in home
    assert "> <strong>Mind the <em>gap</em></strong>" in home
    assert "**Note**" in home
    assert "<mark>marked</mark> word." in home
    assert "^block-1" not in home
    assert "[[Ideas]] ==x==" in home
    assert "[in a table](PAGE:Ideas)" in home
    assert "[rel](PAGE:Plan) [enc](PAGE:My café#caf" in home
    assert done.text("Ideas").startswith(
        "Back [Startseite](PAGE:Home) and [s](PAGE:Home). ![alt](FILE:cat.png)"
    )
    plan = done.text("Plan")
    assert "[up](PAGE:Ideas) [home](PAGE:Home) [../Ideas](PAGE:Ideas)" in plan
    assert "PAGE:My café" in done.text("My café")
    assert done.files("Home") == ["cat.png", "paper.pdf"]
    assert done.outcome("Vault/.trash/Old.md") == "left out"
    assert done.outcome("Vault/.obsidian/app.json") == "left out"
    assert done.outcome("Vault/Board.canvas") == "file"
    said = done.notes("Vault/Home.md")
    for note in ("properties became a table", "callouts", "embedded", "blocks", "[[Nowhere]]"):
        assert note in said, said
    assert done.job["result"]["left_out"] == 3
    assert done.job["result"]["pages"] == 6


def notion_entries() -> list[tuple[str, bytes]]:
    plan, tasks, row, long = ID["a"], ID["b"], ID["c"], ID["d"]
    return [
        (
            f"Plan {plan}.md",
            f"# Plan\n\n[Tasks](Plan%20{plan}/Tasks%20{tasks}.csv)\n\n"
            f"[A very long title](Plan%20{plan}/A%20very%20long%20{long}.md) "
            f"[web](https://www.notion.so/Write-it-{row}?pvs=4)\n\n"
            "<aside>\n💡 Mind **this**\n\n</aside>\n\n"
            f"![shot.png](Plan%20{plan}/shot.png)\n".encode(),
        ),
        (
            f"Plan {plan}/A very long {long}.md",
            b"# A very long title that a file's name cannot hold\n\nOwner: Ann\n"
            b"Status: In progress\nDue: January 2, 2024\n\nNot: a property because of the text\n",
        ),
        (f"Plan {plan}/shot.png", PNG),
        (
            f"Plan {plan}/Tasks {tasks}.csv",
            "\ufeffName,Status\nWrite it,Done\n".encode(),
        ),
        (
            f"Plan {plan}/Tasks {tasks}_all.csv",
            '\ufeffName,Status,Notes\nWrite it,Done,"two\nlines"\nOther,Open,\n'.encode(),
        ),
        (
            f"Plan {plan}/Tasks {tasks}/Write it {row}.md",
            f"# Write it\n\nStatus: Done\n\n[up](../../Plan%20{plan}.md)\n".encode(),
        ),
    ]


def nested(*parts: bytes) -> bytes:
    return zipped(
        *[(f"Export-1234-Part-{n}.zip", part) for n, part in enumerate(parts, 1)],
        ("__MACOSX/._Export", b"x"),
    )


@pytest.mark.parametrize("form", ["plain", "parts", "folders without ids", "windows"])
def test_a_notion_export(admin: Client, form: str) -> None:
    entries = notion_entries()
    if form == "folders without ids":
        entries = [
            (
                name.replace(f"Plan {ID['a']}/", "Plan/").replace(f"Tasks {ID['b']}/", "Tasks/"),
                data.replace(f"Plan%20{ID['a']}/".encode(), b"Plan/"),
            )
            for name, data in entries
        ]
    content = zipped(*entries)
    if form == "parts":
        content = nested(zipped(*entries[:2]), zipped(*entries[2:]))
    if form == "windows":
        content = zipped(*[(name.replace("/", "\\"), data) for name, data in entries])
    done = Imported(admin, content)
    assert done.job["result"]["source"] == "a Notion export"
    long = "A very long title that a file's name cannot hold"
    assert done.above == {"Plan": None, "Tasks": "Plan", "Write it": "Tasks", long: "Plan"}
    text = done.text("Plan")
    assert ID["a"] not in text
    assert "# Plan" not in text
    assert "[Tasks](PAGE:Tasks)" in text
    assert f"[A very long title](PAGE:{long}) [web](PAGE:Write it)" in text
    assert "> 💡 Mind **this**" in text
    assert "![shot.png](FILE:shot.png)" in text
    assert "aside" not in text
    table = done.text("Tasks")
    assert "| Name | Status | Notes |" in table
    assert "| [Write it](PAGE:Write it) | Done | two lines |" in table
    assert "| Other | Open |" in table
    row = done.text("Write it")
    assert "| Status | Done |" in row
    assert "[up](PAGE:Plan)" in row
    text = done.text(long)
    assert "| Owner | Ann |" in text
    assert "| Due | January 2, 2024 |" in text
    assert "Not: a property because of the text" in text
    if form == "plain":
        assert done.outcome(f"Plan {ID['a']}/Tasks {ID['b']}.csv") == "left out"


NOTION_HTML = """<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/>
<title>Größe</title><style>p{{}}</style></head><body><article id="x" class="page sans"><header>
<div class="page-header-icon undefined"><span class="icon">📝</span></div>
<h1 class="page-title">Größe: ein Titel</h1><p class="page-description"></p>
<table class="properties"><tbody><tr class="property-row property-row-status"><th><span
class="icon property-icon"><svg viewBox="0 0 1 1"><path d="M1"/></svg></span>Status</th>
<td><span class="status-value"><div class="status-dot"></div>Done</span></td></tr></tbody></table>
</header><div class="page-body"><p class="">One <strong>bold</strong> <a href="{link}">row</a>
<script>alert(1)</script><a href="javascript:alert(1)">bad</a></p>
<figure class="block-color-gray_background callout"><div><span class="icon">💡</span></div>
<div style="width:100%">Mind this</div></figure>
<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span>done</span></li></ul>
<ul class="to-do-list"><li><div class="checkbox checkbox-off"></div> <span>open</span></li></ul>
<ul class="toggle"><li><details open=""><summary>More</summary><p>inner</p></details></li></ul>
<ol type="1" class="numbered-list" start="1"><li>one</li></ol>
<ol type="1" class="numbered-list" start="2"><li>two</li></ol>
<pre class="code"><code class="language-Python">a &lt; b
  c</code></pre>
<figure class="image"><a href="{image}"><img style="width:10px" src="{image}"/></a>
<figcaption>A shot</figcaption></figure>
<img src="data:image/png;base64,{data}"/><iframe src="https://film.example/1"></iframe>
<figure class="equation"><style>@import url('x')</style><div class="equation-container"><span
class="katex-display"><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>E
</mi></mrow><annotation encoding="application/x-tex">E=mc^2</annotation></semantics></math></span>
<span class="katex-html" aria-hidden="true">E=mc2</span></span></span></div></figure>
</div></article></body></html>"""


def test_a_notion_export_in_html(admin: Client) -> None:
    top, row = f"Gr {ID['a']}", f"Row {ID['b']}"
    html = NOTION_HTML.format(
        link=f"Gr%20{ID['a']}/Row%20{ID['b']}.html",
        image=f"Gr%20{ID['a']}/shot.png",
        data=base64.b64encode(PNG).decode(),
    )
    up = f'<html><body><h1 class="page-title">Row</h1><a href="../Gr%20{ID["a"]}.html">up</a>'
    done = Imported(
        admin,
        zipped(
            ("index.html", b"<ul><li>pages</li></ul>"),
            (f"{top}.html", html.encode()),
            (f"{top}/{row}.html", up.encode()),
            (f"{top}/shot.png", PNG),
        ),
    )
    title = "Größe: ein Titel"
    assert done.above == {title: None, "Row": title}
    text = done.text(title)
    for wanted in (
        "| Status | Done |", "One **bold** [row](PAGE:Row)", "> Mind this",
        "- [x] done\n- [ ] open",
        "+ More\n\n  inner", "1. one\n2. two", "```Python\na < b\n  c\n```",
        "[![](FILE:shot.png)](FILE:shot.png)", "A shot", "![](FILE:picture 1.png)", "`E=mc^2`",
        "https://film.example/1",
    ):  # fmt: skip
        assert wanted in text, (wanted, text)
    for unwanted in ("alert", "javascript", "E=mc2", "@import", "📝"):
        assert unwanted not in text, (unwanted, text)
    assert "[up](PAGE:Größe: ein Titel)" in done.text("Row")
    assert done.outcome("index.html") == "left out"
    assert "could run code" in done.notes(f"{top}.html")


def test_a_report_is_for_who_asked(admin: Client, person: Any) -> None:
    done = Imported(admin, vault())
    person("Eve").problem(404, "GET", f"/api/v1/jobs/{done.job['id']}/report")
    few = admin.ok("GET", f"/api/v1/jobs/{done.job['id']}/report?all=false")
    assert all(line["notes"] for line in few)
    assert 0 < len(few) < len(done.lines)
    rest = admin.ok("GET", f"/api/v1/jobs/{done.job['id']}/report?after={done.lines[2]['number']}")
    assert rest == done.lines[3:]
