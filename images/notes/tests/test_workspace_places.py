"""Checks that everything that the API can do has a place in the workspace.

The table says by hand which file of the workspace calls an operation, and with which words of that
file. A new operation fails until it has a line here.
"""

from pathlib import Path

import pytest

from notes.routes import OPERATIONS

SOURCES = Path(__file__).resolve().parents[1] / "web" / "src"
API = {operation.name for operation in OPERATIONS if operation.path.startswith("/api/")}

#: The file, and words of it, by the name of the operation.
PLACES: dict[str, tuple[str, str]] = {
    "get_node": ("app/store.ts", "load<PageNode>(`/api/v1/nodes/${id}`"),
    "get_markdown": ("app/commands.ts", "/markdown`"),
    "post_node": ("screens/asked/new_page.tsx", '"POST", `/api/v1/spaces/${space}/nodes`'),
    "get_tree": ("app/store.ts", "/tree`"),
    "move_node": ("screens/beside/tree_acts.ts", "/move`"),
    "delete_node": ("screens/around/trash.tsx", "?forever=true`"),
    "restore_node": ("screens/around/trash.tsx", "/restore`"),
    "get_trash": ("screens/around/trash.tsx", "/trash`"),
    "list_revisions": ("screens/around/history.tsx", "/revisions?limit="),
    "post_revision": ("editor/keep_version.ts", '"POST", `/api/v1/nodes/${page}/revisions`'),
    "get_revision": ("screens/around/history.tsx", "/revisions/${version}`"),
    "get_diff": ("screens/around/history.tsx", "/diff?old="),
    "restore_revision": ("screens/around/history.tsx", "revisions/${version}`"),
    "get_live": ("editor/held.ts", "/live`"),
    "list_edits": ("editor/held.ts", "/edits?since="),
    "post_edit": ("editor/held.ts", '"POST", `/api/v1/nodes/${page}/edits`'),
    "get_moment": ("screens/around/moments.tsx", "/edits/${seq}`"),
    "get_moment_diff": ("screens/around/moments.tsx", "/diff?since="),
    "restore_moment": ("screens/around/moments.tsx", "edits/${"),
    "list_bursts": ("screens/around/moments.tsx", "/bursts`"),
    "get_edit_log": ("screens/admin/edit_log.tsx", "useLoaded<EditLog>(PATH)"),
    "put_edit_log": ("screens/admin/edit_log.tsx", 'send("PUT", PATH'),
    "post_presence": ("app/presence.ts", "/presence`"),
    "search": ("app/finding.ts", "/api/v1/search?limit=20${space && `&space_id=${space}`}"),
    "list_comments": ("screens/beside/comments.tsx", "/comments`"),
    "post_comment": ("screens/beside/requests.ts", '"POST", `/api/v1/nodes/${page}/comments`'),
    "patch_comment": ("screens/beside/requests.ts", 'request("PATCH", path'),
    "delete_comment": ("screens/beside/requests.ts", 'request("DELETE", `${path}?key='),
    "list_known": ("screens/beside/requests.ts", "/api/v1/repeats/known"),
    "list_notifications": ("screens/told/list.tsx", "/api/v1/notifications?limit="),
    "count_unread": ("app/told.ts", "/api/v1/notifications/unread"),
    "read_notifications": ("screens/told/list.tsx", "/api/v1/notifications/read"),
    "get_wanted": ("screens/admin/account.tsx", "useLoaded<Wanted>(path)"),
    "put_wanted": ("screens/admin/account.tsx", 'send("PUT", path, chosen)'),
    "put_watch": ("app/store.ts", '"PUT" : "DELETE", `/api/v1/nodes/${before.id}/watch`'),
    "delete_watch": ("app/store.ts", '"PUT" : "DELETE", `/api/v1/nodes/${before.id}/watch`'),
    "find_to_mention": ("app/mentionable.ts", "/mentionable?q="),
    "post_upload": ("editor/upload_wire.ts", '"POST", pathOf(page)'),
    "get_upload": ("editor/upload_wire.ts", '"GET", `${pathOf(page)}/${upload}`'),
    "delete_upload": ("editor/upload_wire.ts", '"DELETE", `/api/v1/nodes/${page}/uploads/'),
    "get_attachment": ("screens/around/files.tsx", "?download=true`"),
    "list_attachments": ("screens/around/files.tsx", "/attachments`"),
    "delete_attachment": ("screens/around/files.tsx", 'request("DELETE", fileUrl('),
    "list_backlinks": ("screens/page.tsx", "/backlinks`"),
    "list_favourites": ("app/store.ts", "/api/v1/favourites"),
    "list_recent": ("app/store.ts", "/api/v1/recent"),
    "put_favourite": ("app/favourite.ts", '"PUT" : "DELETE", `/api/v1/nodes/${page}/favourite`'),
    "delete_favourite": ("app/favourite.ts", '"PUT" : "DELETE", `/api/v1/nodes/'),
    "put_permissions": ("screens/beside/permissions.tsx", "/permissions`"),
    "get_access": ("screens/beside/permissions.tsx", "/access`"),
    "find_people": ("screens/beside/find_people.tsx", "/people?q="),
    "find_space_people": ("screens/beside/find_people.tsx", "/people?q="),
    "find_known": ("app/finding.ts", "/api/v1/people?q="),
    "get_person": ("screens/around/person.tsx", "/api/v1/people/${id}`"),
    "list_spaces": ("app/store.ts", '"/api/v1/spaces"'),
    "post_space": ("screens/space/new_space.tsx", '"POST", "/api/v1/spaces"'),
    "get_space": ("screens/space/settings.tsx", "useLoaded<WholeSpace>(`/api/v1/spaces/${id}`)"),
    "patch_space": ("screens/space/settings.tsx", '"PATCH", `/api/v1/spaces/${space.id}`'),
    "delete_space": ("screens/space/settings.tsx", '"DELETE", `/api/v1/spaces/${space.id}`'),
    "list_domains": ("screens/admin/domains.tsx", '"/api/v1/domains"'),
    "approve_domain": ("screens/admin/domains.tsx", 'send("PUT", path'),
    "withdraw_domain": ("screens/admin/domains.tsx", 'send("DELETE", path'),
    "get_look": ("screens/space/look.tsx", "`${path}/look`"),
    "put_look": ("screens/space/look.tsx", '"PUT", `${path}/look`'),
    "put_logo": ("screens/space/look.tsx", 'method: "PUT"'),
    "delete_logo": ("screens/space/look.tsx", '"DELETE", `${path}/logo`'),
    "get_logo": ("screens/space/look.tsx", "${path}/logo"),
    "get_members": ("screens/space/members.tsx", "/members`"),
    "put_member": ("screens/space/members.tsx", 'send("PUT", at'),
    "delete_member": ("screens/space/members.tsx", 'send("DELETE", former'),
    "list_shares": ("screens/around/share.tsx", "/shares`"),
    "post_share": ("screens/around/share.tsx", 'request<Share>("POST", path'),
    "patch_share": ("screens/around/share.tsx", 'request("PATCH", path'),
    "delete_share": ("screens/around/share.tsx", 'request("DELETE", path)'),
    "get_share_qr": ("screens/around/share.tsx", "/qr.svg`"),
    "get_share_statistics": ("screens/around/share.tsx", "/statistics`"),
    "post_import": ("screens/transfer/sending.ts", '"POST", at("", "preview=true")'),
    "get_report": ("screens/transfer/lines.tsx", "/report?all="),
    "get_preview": ("screens/transfer/preview_tree.tsx", "/preview?limit="),
    "post_begin": ("screens/transfer/import.tsx", "/begin?mode="),
    "cancel_job": ("screens/transfer/jobs.tsx", '"DELETE", `/api/v1/jobs/${job.id}`'),
    "post_zip_upload": ("screens/transfer/sending.ts", 'at("/uploads")'),
    "get_zip_upload": ("screens/transfer/sending.ts", '"GET", at(`/uploads/'),
    "delete_zip_upload": ("screens/transfer/sending.ts", '"DELETE", at(`/uploads/'),
    "export_space": ("screens/transfer/export.tsx", "/export?comments="),
    "export_node": ("screens/transfer/export.tsx", "/export?comments="),
    "get_setup": ("screens/setup/setup.tsx", 'get<SetupState>("/api/v1/setup")'),
    "post_setup": ("screens/setup/setup.tsx", '"POST", "/api/v1/setup"'),
    "get_next_steps": ("screens/admin/next_steps.tsx", '"/api/v1/next-steps"'),
    "post_demo_space": ("screens/admin/next_steps.tsx", '"/api/v1/demo-space"'),
    "post_session": ("screens/asked/sign_in.tsx", '"POST", "/api/v1/session"'),
    "delete_session": ("app/session.ts", '"DELETE", `/api/v1/session?keep_'),
    "get_me": ("app/session.ts", 'get<Me>("/api/v1/me"'),
    "patch_me": ("screens/admin/account.tsx", '"PATCH", "/api/v1/me"'),
    "list_sessions": ("screens/admin/sessions.tsx", "useLoaded<Session[]>(PATH)"),
    "end_session": ("screens/admin/sessions.tsx", '"DELETE", `${PATH}/${session.id}`'),
    "end_other_sessions": ("screens/admin/sessions.tsx", '("DELETE", PATH)'),
    "list_tokens": ("screens/admin/tokens.tsx", 'useLoaded<Token[]>("/api/v1/tokens")'),
    "post_token": ("screens/admin/tokens.tsx", '"POST", "/api/v1/tokens"'),
    "delete_token": ("screens/admin/tokens.tsx", '"DELETE", `/api/v1/tokens/'),
    "list_users": ("screens/admin/people.tsx", 'useLoaded<User[]>("/api/v1/users")'),
    "post_user": ("screens/admin/people.tsx", '"POST", "/api/v1/users"'),
    "patch_user": ("screens/admin/people.tsx", '"PATCH", `/api/v1/users/'),
    "list_groups": ("screens/admin/groups.tsx", 'useLoaded<Group[]>("/api/v1/groups")'),
    "post_group": ("screens/admin/groups.tsx", '"POST", "/api/v1/groups"'),
    "put_group": ("screens/admin/groups.tsx", '"PUT", `/api/v1/groups/'),
    "delete_group": ("screens/admin/groups.tsx", '"DELETE", `/api/v1/groups/'),
    "list_invitations": ("screens/admin/invitations.tsx", '"/api/v1/invitations"'),
    "post_invitation": ("screens/admin/invite.tsx", '"POST", "/api/v1/invitations"'),
    "delete_invitation": ("screens/admin/invitations.tsx", '"DELETE", `/api/v1/invitations/'),
    "get_quotas": ("screens/admin/limits.tsx", 'useLoaded<Numbers>("/api/v1/quotas")'),
    "put_quotas": ("screens/admin/limits.tsx", '"PUT", "/api/v1/quotas"'),
    "get_my_usage": ("screens/admin/account.tsx", '"/api/v1/me/usage"'),
    "get_user_usage": ("screens/admin/limits.tsx", "`${path}/usage`"),
    "put_user_quota": ("screens/admin/limits.tsx", "`${path}/quota`"),
    "get_space_usage": ("screens/space/settings.tsx", "/usage`"),
    "put_space_quota": ("screens/admin/limits.tsx", "`${path}/quota`"),
    "get_oidc": ("screens/admin/sign_on.tsx", '("/api/v1/settings/oidc")'),
    "delete_oidc": ("screens/admin/sign_on.tsx", '"DELETE", "/api/v1/settings/oidc"'),
    "post_oidc_trial": ("screens/admin/sign_on.tsx", '"POST", TRIALS'),
    "get_oidc_trial": ("screens/admin/trial.tsx", "useLoaded<Trial>(path)"),
    "use_oidc_trial": ("screens/admin/trial.tsx", '"POST", `${path}/use`'),
    "list_audit": ("screens/admin/audit.tsx", "/api/v1/audit?limit="),
    "get_events": ("api/events.ts", "/api/v1/events"),
    "list_jobs": ("screens/transfer/jobs.tsx", "?all=true${person}${state"),
    "get_job": ("screens/transfer/import.tsx", "useFollowed<Job>(`/api/v1/jobs/${id}"),
    "get_site": ("app/session.ts", '"/api/v1/site"'),
}

#: Why the workspace does without an operation.
WITHOUT = {
    "put_node": "the editor saves by edits, from which the server makes versions",
    "get_watch": "a page says itself if it is watched",
    "get_permissions": "`get_access` has the same, with names",
    "put_members": "members are changed one by one, so that two people overwrite nothing",
    "put_oidc": "settings are used after a trial that succeeded",
}


def test_each_operation_has_a_place_or_a_reason() -> None:
    assert PLACES.keys() & WITHOUT.keys() == set()
    assert PLACES.keys() | WITHOUT.keys() == API


@pytest.mark.parametrize("name", sorted(PLACES))
def test_the_place_calls_the_operation(name: str) -> None:
    file, words = PLACES[name]
    assert words in (SOURCES / file).read_text()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("screens/admin/audit.tsx", "&node_id=${page}"),
        ("screens/admin/audit.tsx", "&space_id=${space}"),
        ("screens/transfer/jobs.tsx", "&user_id=${whose}"),
        ("screens/told/list.tsx", "&before=${"),
        ("screens/around/history.tsx", "&before=${"),
    ],
)
def test_a_filter_of_a_list_has_a_place(file: str, words: str) -> None:
    assert words in (SOURCES / file).read_text()
