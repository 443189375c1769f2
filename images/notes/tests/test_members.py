"""Tests concurrent changes of a space's members: none is lost, and a manager always stays."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from tests.replica import Client
from tests.workspace import grant, space

Person = Callable[[str], Client]


def roles(client: Client, path: str) -> dict[str, str]:
    return {one["principal"]: one["role"] for one in client.ok("GET", path)}


def id_of(client: Client) -> str:
    return str(client.ok("GET", "/api/v1/me")["id"])


def test_two_managers_do_not_overwrite_each_other(admin: Client, person: Person) -> None:
    home = space(admin)
    path = f"/api/v1/spaces/{home}/members"
    ann, bob, cid = person("Ann"), person("Bob"), person("Cid")
    grant(admin, path, manager=ann)
    old = admin.get(path)
    one = ann.put(f"{path}/{id_of(bob)}", json={"kind": "user", "role": "editor"})
    assert one.status_code == 200
    body = {"grants": old.json()}
    late = {"if-match": old.headers["etag"]}
    problem = admin.problem(412, "PUT", path, json=body, headers=late)
    assert {m["name"] for m in problem["current"]} == {"Ada", "Ann", "Bob"}
    assert id_of(bob) in roles(admin, path)
    fresh = {"if-match": f'"x", {one.headers["etag"]}'}
    grants = [*one.json(), {"principal": id_of(cid), "kind": "user", "role": "viewer"}]
    done = admin.put(path, json={"grants": grants}, headers=fresh)
    assert done.status_code == 200
    assert done.headers["etag"] == admin.get(path).headers["etag"] != old.headers["etag"]
    # Without the header the list is set as it was before there was one.
    assert admin.put(path, json=body).status_code == 200
    assert id_of(bob) not in roles(admin, path)


def test_members_that_are_added_at_once_are_all_there(admin: Client, person: Person) -> None:
    home = space(admin)
    path = f"/api/v1/spaces/{home}/members"
    others = [id_of(person(f"One{number}")) for number in range(6)]
    body = {"kind": "user", "role": "commenter", "base_role": "none"}
    with ThreadPoolExecutor(6) as pool:
        answers = pool.map(lambda one: admin.put(f"{path}/{one}", json=body).status_code, others)
        assert set(answers) == {200}
    assert {role for one, role in roles(admin, path).items() if one in others} == {"commenter"}
    assert len(roles(admin, path)) == 7


def test_a_role_that_was_changed_meanwhile_is_kept(admin: Client, person: Person) -> None:
    home = space(admin)
    path = f"/api/v1/spaces/{home}/members"
    bob = id_of(person("Bob"))

    def put(role: str, base: str) -> int:
        body = {"kind": "user", "role": role, "base_role": base}
        return admin.put(f"{path}/{bob}", json=body).status_code

    assert put("viewer", "editor") == 409
    assert put("viewer", "none") == 200
    assert put("viewer", "none") == 200, "a repeated request"
    assert put("editor", "viewer") == 200
    assert put("commenter", "viewer") == 409
    problem = admin.problem(409, "DELETE", f"{path}/{bob}?base_role=viewer")
    assert {"editor", "manager"} == {one["role"] for one in problem["current"]}
    assert admin.delete(f"{path}/{bob}?base_role=editor").status_code == 200
    assert admin.delete(f"{path}/{bob}?base_role=editor").status_code == 200, "a repeat"
    assert bob not in roles(admin, path)


def test_of_two_managers_who_remove_each_other_one_stays(admin: Client, person: Person) -> None:
    home = space(admin)
    path = f"/api/v1/spaces/{home}/members"
    ann, bob = person("Ann"), person("Bob")
    pair = {id_of(ann), id_of(bob)}
    grants = [{"principal": one, "kind": "user", "role": "manager"} for one in pair]
    admin.ok("PUT", path, {"grants": grants})
    with ThreadPoolExecutor(2) as pool:
        sent = [
            pool.submit(ann.delete, f"{path}/{id_of(bob)}"),
            pool.submit(bob.delete, f"{path}/{id_of(ann)}"),
        ]
        statuses = sorted(one.result().status_code for one in sent)
    # The second has no role any more when its turn comes.
    assert statuses == [200, 404]
    left = next(iter(roles(admin, path)))
    admin.problem(422, "DELETE", f"{path}/{left}")
    body = {"kind": "user", "role": "editor"}
    admin.problem(422, "PUT", f"{path}/{left}", json=body)
    assert roles(admin, path) == {left: "manager"}


def test_only_managers_change_members(admin: Client, person: Person) -> None:
    home = space(admin, everyone_role="viewer")
    path = f"/api/v1/spaces/{home}/members"
    editor, outsider = person("Editor"), person("Outsider")
    grant(admin, path, editor=editor)
    body = {"kind": "user", "role": "manager"}
    for one in (editor, outsider):
        one.problem(403, "PUT", f"{path}/{id_of(one)}", json=body)
        one.problem(403, "DELETE", f"{path}/{id_of(admin)}")
    admin.problem(422, "PUT", f"{path}/{uuid4()}", json=body)
    admin.problem(422, "PUT", f"{path}/{id_of(editor)}", json={**body, "kind": "group"})
    entry = admin.ok("GET", f"/api/v1/audit?space_id={home}")[0]
    assert entry["action"] == "space.members"
