"""Every screen of the application: its address, and what is done there.

axe-core checks these screens, and `screenshots.py` takes their pictures.
`tests/test_screens.py` fails if a template, an address or a dialog of the application has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Screen:
    """One screen. `act` names a function of `screen_acts.mjs`, run after the address is open."""

    name: str
    title: str
    path: str
    #: The template, or the case of the workspace's code, that draws it.
    drawn_by: str
    act: str = ""
    #: Opened without a sign-in.
    is_public: bool = False
    #: Only at the width of a phone.
    is_narrow: bool = False

    def at(self, ids: Mapping[str, str]) -> dict[str, object]:
        """The screen as JSON, with its address in a world whose ids are given."""
        return {
            "name": self.name,
            "path": self.path.format_map(ids),
            "act": self.act,
            "isPublic": self.is_public,
            "isNarrow": self.is_narrow,
        }


#: The workspace, which a browser draws.
WORKSPACE = (
    Screen("home", "Home", "/w", "screen home"),
    Screen("space", "A space", "/w/s/{space}", "screen space"),
    Screen("page", "A page", "/w/p/{page}", "screen page"),
    Screen("drawer", "The sidebar on a phone", "/w/p/{page}", "sidebar", "drawer", is_narrow=True),
    Screen("empty-page", "A page without text", "/w/p/{empty}", "screen page"),
    Screen("page-menu", "The menu of a page", "/w/p/{page}", "menu", "menu"),
    Screen("editor", "The editor", "/w/p/{page}", "editor", "edit"),
    Screen("insert", "The editor's blocks to insert", "/w/p/{draft}", "slash menu", "slash"),
    Screen("doubt", "A doubtful place", "/w/p/{doubt}", "doubts", "doubt"),
    Screen("lost-text", "A text whose page is gone", "/w/p/{draft}", "lost texts", "lostText"),
    Screen("palette", "Search and commands", "/w/p/{page}", "dialog palette", "palette"),
    Screen("keys", "Keyboard shortcuts", "/w/p/{page}", "dialog keys", "keys"),
    Screen("new-page", "A new page", "/w/p/{page}", "dialog new page", "newPage"),
    Screen("comments", "The comments of a page", "/w/p/{minutes}", "comments", "comments"),
    Screen("new-comment", "A new comment", "/w/p/{minutes}", "comments", "newComment"),
    Screen("mention", "A mention in a comment", "/w/p/{minutes}", "comments", "mention"),
    Screen("notifications", "Notifications", "/w/notifications", "screen notifications"),
    Screen("permissions", "Permissions", "/w/p/{minutes}", "dialog permissions", "permissions"),
    Screen("move", "Move a page", "/w/p/{minutes}", "dialog move", "move"),
    Screen("new-space", "A new space", "/w", "dialog new space", "newSpace"),
    Screen("space-settings", "The settings of a space", "/w/s/{space}/settings", "screen manage"),
    Screen("members", "A space's members", "/w/s/{space}/settings", "screen manage", "addMember"),
    Screen("domain", "A space's site and domain", "/w/s/{site}/settings", "screen manage", "site"),
    Screen("look", "The look of a site", "/w/s/{site}/settings", "screen manage", "look"),
    Screen("search", "Search", "/w/search?q={word}", "screen search"),
    Screen("search-nothing", "Search without hits", "/w/search?q=zyzzyva", "screen search"),
    Screen(
        "search-space", "Search in a space", "/w/search?q={word}&space={space}", "screen search"
    ),
    Screen("palette-people", "People in the palette", "/w", "dialog palette", "findPerson"),
    Screen("person", "A person", "/w/people/{grace}", "screen person"),
    Screen("files", "The files of a page", "/w/p/{page}/files", "screen files"),
    Screen("file-deletion", "A file to delete", "/w/p/{page}/files", "screen files", "deleteFile"),
    Screen("settings", "Settings", "/w/settings", "screen settings"),
    Screen("sharing", "The links of a page", "/w/p/{page}/share", "screen share"),
    Screen("visits", "The visits of a link", "/w/p/{page}/share", "screen share", "visits"),
    Screen("history", "The versions of a page", "/w/p/{page}/history", "screen history"),
    Screen("version", "An older version", "/w/p/{page}/history?version=1", "screen history"),
    Screen(
        "difference",
        "What a version changed",
        "/w/p/{page}/history?version=2&old=1",
        "screen history",
    ),
    Screen("moments", "The edits of a page", "/w/p/{guide}/history?moment=all", "screen history"),
    Screen(
        "moment",
        "What an edit changed",
        "/w/p/{guide}/history?moment=3&since=2",
        "screen history",
    ),
    Screen("trash", "The trash of a space", "/w/s/{space}/trash", "screen trash"),
    Screen("import", "Import pages", "/w/s/{space}/import", "screen import"),
    Screen(
        "import-preview",
        "The preview of an import",
        "/w/s/{research}/import?job={preview}",
        "screen import",
        "preview",
    ),
    Screen(
        "import-report",
        "The report of an import",
        "/w/s/{research}/import?job={import}",
        "screen import",
    ),
    Screen("export", "Export a page", "/w/p/{page}/export", "screen export"),
    Screen("export-space", "Export a space", "/w/s/{space}/export", "screen export"),
    Screen("jobs", "The jobs", "/w/jobs", "screen jobs"),
    Screen("account", "The account", "/w/account", "screen account"),
    Screen("sessions", "The sessions of an account", "/w/account", "screen account", "sessions"),
    Screen("new-token", "A new API token", "/w/account", "screen account", "newToken"),
    Screen("people", "People", "/w/admin/people", "screen admin", "people"),
    Screen("invite", "Invite a person", "/w/admin/people", "screen admin", "invite"),
    Screen("invited", "The link of an invitation", "/w/admin/people", "screen admin", "invited"),
    Screen("groups", "A group's members", "/w/admin/groups", "screen admin", "group"),
    Screen("limits", "Limits", "/w/admin/limits", "screen admin", "limits"),
    Screen("domains", "The domains of all spaces", "/w/admin/domains", "screen admin"),
    Screen("sign-on", "Single sign-on", "/w/admin/sign-on", "screen admin", "signOn"),
    Screen("trial", "A trial of single sign-on", "/w/admin/sign-on", "screen admin", "trial"),
    Screen("audit", "The audit log", "/w/admin/audit", "screen admin"),
    Screen("page-audit", "The audit log of a page", "/w/p/{page}/audit", "screen audit"),
    Screen("first-steps", "The first steps", "/w/admin/first-steps", "screen admin", "firstSteps"),
    Screen("edit-log", "How long edits are kept", "/w/admin/limits", "screen admin", "editLog"),
    Screen("trashed-page", "A page in the trash", "/w/p/{gone}", "screen page"),
    Screen("nowhere", "An unknown address", "/w/nowhere", "screen nowhere"),
    Screen("offline", "A page that is not stored, offline", "/w", "offline", "offline"),
    Screen("sign-out", "Sign out", "/w/p/{page}", "dialog sign out", "signOut"),
    Screen("signed-out", "Signed out", "/w", "signed out", "signedOut"),
)

#: The plain pages, which work without scripts.
PLAIN = (
    Screen("plain-home", "Home", "/", "home.html"),
    Screen("plain-space", "A space", "/spaces/{space}", "space.html"),
    Screen("plain-trash", "The trash of a space", "/spaces/{space}/trash", "trash.html"),
    Screen("plain-page", "A page", "/p/{page}", "page.html"),
    Screen("plain-edit", "A page's Markdown", "/p/{page}/edit", "edit.html"),
    Screen("plain-pages", "The pages below a page", "/p/{page}/pages", "pages.html"),
    Screen("plain-backlinks", "Links to a page", "/p/{page}/backlinks", "backlinks.html"),
    Screen("plain-move", "Move a page", "/p/{page}/move", "move.html"),
    Screen("plain-history", "The versions of a page", "/p/{page}/history", "history.html"),
    Screen("plain-diff", "Differences", "/p/{page}/diff?old=1&new=2", "diff.html"),
    Screen("plain-trashed", "A page in the trash", "/p/{gone}", "trashed.html"),
    Screen("plain-search", "Search", "/search?q={word}", "search.html"),
    Screen("plain-settings", "Settings", "/settings", "settings.html"),
    Screen("plain-import", "An import", "/imports/{import}", "import.html"),
    Screen("plain-sign-out", "Sign out", "/", "sign_out.html", "plainSignOut"),
    Screen("plain-error", "An unknown address", "/nowhere", "error.html"),
    Screen("share", "A shared page", "{share}", "shared.html", is_public=True),
    Screen("share-password", "A password", "{guarded}", "share_password.html", is_public=True),
    Screen(
        "invitation",
        "An invitation",
        "{invitation}",
        "invitation.html",
        "invitation",
        is_public=True,
    ),
    Screen(
        "invitation-over",
        "An invitation that does not hold",
        "/s/unknown/invitation",
        "invitation.html",
        is_public=True,
    ),
    Screen("login", "Sign in", "/login", "login.html", is_public=True),
)
#: Shown until the first person has an account; then all other addresses lead here.
SETUP = (
    Screen("first-step", "The site", "/w/setup", "screen setup", is_public=True),
    Screen("second-step", "The account", "/w/setup", "screen setup", "setupYou", is_public=True),
    Screen("third-step", "The tour", "/w/setup", "screen setup", "setupTour", is_public=True),
    Screen("setup", "Set up without scripts", "/setup", "setup.html", is_public=True),
)
#: At the domain of a space, after `screen_world.publish`.
SITE = (
    Screen("site", "The front page", "/", "space.html", is_public=True),
    Screen("site-page", "A page", "/p/{first_day}", "page.html", is_public=True),
    Screen("site-search", "Search", "/search?q=team", "search.html", is_public=True),
)
#: The one list: pictures are taken of these screens, and axe checks them.
GROUPS: Mapping[str, tuple[Screen, ...]] = {
    "The workspace": WORKSPACE,
    "Plain pages": PLAIN,
    "The site of a space": SITE,
    "Before the setup": SETUP,
}
SCREENS = tuple(screen for group in GROUPS.values() for screen in group)
