"""Takes a picture of every screen (desktop, dark, phone) into `docs/screens`, with an index.

`python -m tests.judges.screenshots [NAME ...]` takes all, or the named ones, with a replica and a
PostgreSQL of its own. Exit codes: 0 all taken; 1 a screen failed, or is wider than its window.
"""

import json
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.judges.programs import front, node
from tests.judges.screen_world import furnish, publish
from tests.judges.screens import GROUPS, PLAIN, SCREENS, SETUP, SITE, WORKSPACE, Screen
from tests.postgres import Postgres
from tests.replica import ADMIN, PASSWORD, Replica

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "screens"
INDEX = FOLDER / "README.md"
LOOKS = {"desktop": "desktop", "dark": "dark", "phone": "phone"}
#: Plain HTTP behind a proxy, as in `test_accessibility`.
HEADERS = {"x-forwarded-proto": "http", "origin": "http://notes.example.org"}
PATIENCE_S = 40.0
ABOUT = """# The screens

`make notes-screenshots` takes these pictures in Chromium, of a workspace that
`tests/judges/screen_world.py` furnishes. The list of screens is `tests/judges/screens.py`.
"""


def pictures(screen: Screen) -> list[str]:
    """The file names of a screen's pictures, for each look; empty where it has none."""
    looks = ["phone"] if screen.is_narrow else list(LOOKS)
    return [f"{screen.name}-{look}.webp" if look in looks else "" for look in LOOKS]


def index() -> str:
    """The page that shows all pictures in tables."""
    parts = [ABOUT]
    for title, screens in GROUPS.items():
        parts.append(f"\n## {title}\n\n| | {' | '.join(LOOKS)} |\n|---{'|---' * len(LOOKS)}|\n")
        for screen in screens:
            shown = [
                f"![{screen.title}, {look}]({name})" if name else ""
                for look, name in zip(LOOKS, pictures(screen), strict=True)
            ]
            parts.append(f"| {screen.title} | {' | '.join(shown)} |\n")
    return "".join(parts)


def take(base: str, screens: Iterable[Screen], ids: Mapping[str, str]) -> int:
    """Takes the pictures of some screens; returns the exit code."""
    given = json.dumps([screen.at(ids) for screen in screens])
    person = json.dumps({"email": ADMIN, "password": PASSWORD})
    done = node("screenshots.mjs", base, person, str(FOLDER), given, timeout_s=1800)
    print(done.stdout + done.stderr, end="")
    return done.returncode


def at_domain(base: str, domain: str) -> str:
    """The address of a site behind the proxy of `base`, after the replica serves it."""
    address = f"http://{domain}:{urlsplit(base).port}"
    headers = {"host": domain}
    begun = time.monotonic()
    while httpx.get(f"{base}/robots.txt", headers=headers).status_code != 200:
        if time.monotonic() - begun > PATIENCE_S:
            raise TimeoutError(f"{domain} is not served")
        time.sleep(0.05)
    return address


def main() -> int:
    """Takes all pictures, or those of the screens that the arguments name."""
    wanted = [one for one in SCREENS if one.name in sys.argv[1:] or not sys.argv[1:]]
    FOLDER.mkdir(parents=True, exist_ok=True)
    if wanted == list(SCREENS):
        for old in FOLDER.glob("*.webp"):
            old.unlink()
    of_site = [one for one in wanted if one in SITE]
    with Postgres(16).serving() as server:
        env = {"ORIGIN": "", "PROTOCOL_HEADER": "x-forwarded-proto"}
        with Replica(server.database("screens"), env).running() as replica, front(replica) as base:
            code = take(base, [one for one in wanted if one in SETUP], {})
            with replica.client(headers=HEADERS) as client:
                ids = furnish(client.set_up())
                code |= take(base, [one for one in wanted if one in (*WORKSPACE, *PLAIN)], ids)
                code |= take(at_domain(base, publish(client, ids)), of_site, ids)
    INDEX.write_text(index())
    size = sum(one.stat().st_size for one in FOLDER.iterdir())
    print(f"{FOLDER}: {len(list(FOLDER.glob('*.webp')))} pictures, {size / 1e6:.1f} MB")
    return code


if __name__ == "__main__":
    sys.exit(main())
