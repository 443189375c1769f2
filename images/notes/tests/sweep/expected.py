"""The rule of each operation, written by hand: the sweep fails for an operation without one.

The requests of a rule are in ``cases``.
"""

from tests.sweep.cases import (
    ADMIN,
    ALONE,
    ANY,
    COMMENTER,
    EDITOR,
    LIVE,
    MANAGER,
    TRASHED,
    VIEWER,
    Rule,
    Send,
    Sent,
    form,
    json,
    query,
)
from tests.sweep.world import Actor, Page, World


def _me(_: World, actor: Actor, __: Page) -> Sent:
    principal = actor.user_id or "00000000-0000-4000-8000-000000000000"
    return {"json": {"grants": [{"principal": principal, "kind": "user", "role": "manager"}]}}


_OLD_NEW = query(old=1, new=2)
_EDIT = {
    "client": "00000000-0000-4000-8000-000000000001",
    "n": 1,
    "base_seq": 0,
    "title": "new",
}


def _edit(_: World, __: Actor, page: Page) -> Sent:
    return {"json": {**_EDIT, "base_id": page.first}}


_FILE: Send = lambda _, __, ___: {"files": {"file": ("n.txt", b"new", "text/plain")}}  # noqa: E731
_GONE: Send = lambda _, __, ___: {"params": {"forever": "true"}}  # noqa: E731

_PLENTY = {
    "account_bytes": 2**40, "account_pages": 2**20, "account_spaces": 2**20,
    "space_bytes": 2**40, "space_pages": 2**20,
}  # fmt: skip

#: Two rules of one operation are two ways to call it.
RULES: dict[str, list[Rule]] = {
    "get_node": [Rule("page", VIEWER, state=ANY)],
    "get_markdown": [Rule("page", VIEWER, state=ANY)],
    "post_node": [Rule("make"), Rule("space", EDITOR, json(title="new"))],
    "put_node": [Rule("page", EDITOR, json(base_version=2, markdown="changed"))],
    "get_tree": [Rule("space", VIEWER)],
    "move_node": [Rule("move")],
    "delete_node": [
        Rule("page", EDITOR, below=LIVE),
        Rule("page", EDITOR, _GONE, state=TRASHED, below=ANY),
    ],
    "restore_node": [Rule("page", EDITOR, state=ALONE, below=ANY)],
    "get_trash": [Rule("space", EDITOR)],
    "list_revisions": [Rule("page", VIEWER)],
    "get_revision": [Rule("page", VIEWER)],
    "get_diff": [Rule("page", VIEWER, _OLD_NEW)],
    "restore_revision": [Rule("page", EDITOR, json(base_version=2))],
    "get_live": [Rule("page", VIEWER)],
    "list_edits": [Rule("page", VIEWER)],
    "post_edit": [Rule("page", EDITOR, _edit)],
    "post_presence": [
        Rule("page", VIEWER, json(tab="00000000-0000-4000-8000-000000000001"))
    ],
    "get_moment": [Rule("page", VIEWER)],
    "restore_moment": [Rule("page", EDITOR, json(base_version=2))],
    "search": [Rule("person", send=query(q="common"))],
    "list_comments": [Rule("page", VIEWER)],
    "post_comment": [Rule("page", COMMENTER, json(body="new"))],
    "patch_comment": [Rule("comment", COMMENTER, json(resolved=True))],
    "delete_comment": [Rule("comment", MANAGER)],
    "post_upload": [
        Rule("page", EDITOR, json(name="new", size=5)), Rule("page", EDITOR, _FILE),
    ],
    "get_upload": [Rule("upload", EDITOR)],
    "delete_upload": [Rule("upload", EDITOR)],
    "get_attachment": [Rule("attachment", VIEWER)],
    "list_attachments": [Rule("page", VIEWER)],
    "delete_attachment": [Rule("attachment", EDITOR)],
    "list_backlinks": [Rule("page", VIEWER)],
    "list_favourites": [Rule("person")],
    "list_recent": [Rule("person")],
    "put_favourite": [Rule("page", VIEWER)],
    "delete_favourite": [Rule("person")],
    "get_permissions": [Rule("page", MANAGER)],
    "put_permissions": [Rule("page", MANAGER, _me), Rule("page", MANAGER, json(grants=[]))],
    "get_access": [Rule("page", MANAGER)],
    "find_people": [Rule("page", MANAGER, query(q="kee"))],
    "list_spaces": [Rule("person")],
    "post_space": [Rule("person", send=json(slug="made", name="made"))],
    "get_space": [Rule("space", VIEWER)],
    "patch_space": [Rule("space", MANAGER, json(public=True, domain="new.example.org"))],
    "delete_space": [Rule("space", MANAGER)],
    "get_members": [Rule("space", VIEWER, insiders=True)],
    "put_members": [Rule("space", MANAGER, _me)],
    "list_domains": [Rule("admin")],
    "approve_domain": [Rule("admin", send=json(domain="team.example.org"))],
    "withdraw_domain": [Rule("admin")],
    "list_shares": [Rule("page", EDITOR)],
    "post_share": [Rule("page", EDITOR, json(include_children=True))],
    "patch_share": [Rule("share", EDITOR, json(include_children=False))],
    "delete_share": [Rule("share", EDITOR)],
    "get_share_qr": [Rule("share", EDITOR)],
    "get_share_statistics": [Rule("share", EDITOR)],
    "post_import": [Rule("import")],
    "export_space": [Rule("space", VIEWER)],
    "export_node": [Rule("page", VIEWER)],
    "get_setup": [Rule("anybody")],
    "post_setup": [Rule("unknown", send=json(email="e@e.example", name="E", password="a" * 12))],
    "post_session": [Rule("unknown", send=json(email="ada@example.org", password="a guess"))],
    "delete_session": [Rule("anybody")],
    "get_site": [Rule("anybody")],
    "get_web_manifest": [Rule("anybody")],
    "get_me": [Rule("person")],
    "patch_me": [Rule("person", send=json(name="renamed"))],
    "list_sessions": [Rule("person")],
    "end_session": [Rule("session")],
    "end_other_sessions": [Rule("person")],
    "list_tokens": [Rule("person")],
    "post_token": [Rule("person", send=json(name="new", scopes=["read"]))],
    "delete_token": [Rule("token")],
    "list_users": [Rule("admin")],
    "post_user": [Rule("admin", send=json(email="n@e.example", name="N"))],
    "patch_user": [Rule("user", send=json(disabled=True))],
    "list_groups": [Rule("admin")],
    "post_group": [Rule("admin", send=json(name="new"))],
    "put_group": [Rule("group", send=json(name="new"))],
    "delete_group": [Rule("group")],
    "start_sign_on": [Rule("unknown")],
    "finish_sign_on": [Rule("unknown")],
    "get_oidc": [Rule("admin")],
    "put_oidc": [
        Rule("admin", send=json(issuer="https://i.example", client_id="c", client_secret="s"))
    ],
    "delete_oidc": [Rule("admin")],
    "post_oidc_trial": [
        Rule("admin", send=json(issuer="https://i.example", client_id="c", client_secret="s"))
    ],
    "get_oidc_trial": [Rule("trial")],
    "use_oidc_trial": [Rule("unknown")],
    "list_audit": [Rule("admin")],
    "get_events": [Rule("events")],
    "list_jobs": [Rule("person")],
    "get_job": [Rule("job")],
    "get_report": [Rule("job")],
    "import_page": [Rule("job")],
    "page_page": [Rule("page", VIEWER, state=ANY)],
    "pages_below": [Rule("page", VIEWER)],
    "backlinks_page": [Rule("page", VIEWER)],
    "move_page": [Rule("page", EDITOR), Rule("browse", EDITOR)],
    "edit_page": [Rule("page", VIEWER, state=ANY)],
    "edit_form": [Rule("page", EDITOR, form(base_version="2", title="n", markdown="changed"))],
    "history_page": [Rule("page", VIEWER)],
    "diff_page": [Rule("page", VIEWER, _OLD_NEW)],
    "revert_form": [Rule("page", EDITOR, form(version="1", base_version="2"))],
    "favourite_form": [Rule("page", VIEWER, form(favourite="yes"))],
    "move_form": [Rule("move")],
    "trash_form": [Rule("page", EDITOR, form(), below=LIVE)],
    "restore_form": [Rule("page", EDITOR, form(), state=ALONE, below=ANY)],
    "file_form": [Rule("page", EDITOR, _FILE)],
    "comment_form": [Rule("page", COMMENTER, form(body="new"))],
    "comment_resolve_form": [Rule("page", COMMENTER, form())],
    "share_form": [Rule("page", EDITOR, form())],
    "share_revoke_form": [Rule("page", EDITOR, form())],
    "get_edit_log": [Rule("admin")],
    "put_edit_log": [Rule("admin", send=json(days=30))],
    "get_quotas": [Rule("admin")],
    "put_quotas": [Rule("admin", send=json(**_PLENTY))],
    "quotas_form": [Rule("admin", send=form(**_PLENTY))],
    "get_my_usage": [Rule("person")],
    "get_user_usage": [Rule("user")],
    "put_user_quota": [Rule("user", send=json(pages=10))],
    "get_space_usage": [Rule("space", EDITOR)],
    "put_space_quota": [Rule("space", ADMIN, json(pages=10))],
    "home": [Rule("unknown")],
    "space_form": [Rule("person", send=form(slug="made", name="made"))],
    "space_page": [Rule("space", VIEWER)],
    "space_settings_form": [Rule("space", MANAGER, form(name="renamed", domain=""))],
    "new_page_form": [Rule("make"), Rule("space", EDITOR, form(title="new"))],
    "trash_page": [Rule("space", EDITOR)],
    "import_form": [Rule("import")],
    "search_page": [Rule("anybody", send=query(q="common"))],
    "settings_page": [Rule("person")],
    "settings_form": [Rule("person", send=form(name="renamed"))],
    "token_form": [Rule("person", send=form(name="new"))],
    "token_revoke_form": [Rule("token", send=form())],
    "user_form": [Rule("admin", send=form(email="n@e.example", name="N"))],
    "domain_form": [Rule("admin", send=form(approve="yes", domain="team.example.org"))],
    "setup_page": [Rule("anybody")],
    "setup_form": [Rule("unknown", send=form(email="e@e.example", name="E", password="a" * 12))],
    "login_page": [Rule("anybody")],
    "login_form": [Rule("unknown", send=form(email="ada@example.org", password="a guess"))],
    "logout_form": [Rule("anybody", send=form())],
    "shared_top": [Rule("link")],
    "shared_password": [Rule("link", send=form(password="a guess"))],
    "shared_below": [Rule("link page")],
    "shared_file": [Rule("link file")],
}  # fmt: skip
