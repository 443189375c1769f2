import assert from "node:assert/strict";
import { test } from "node:test";
import type { TreeNode } from "../../src/api/types";
import { candidate, excerpt, fold, marked, match } from "../../src/app/match";
import { inWorkspace, routeOf } from "../../src/app/routes";
import { slugOf } from "../../src/screens/space/slug";
import { above, makeTree, neighbours, rowWindow, visibleRows } from "../../src/app/tree_model";
import { compare, tooMany } from "../../src/sync/limits";

const node = (id: string, parent_id: string | null = null): TreeNode => ({
  id,
  parent_id,
  title: id,
  is_template: false,
  is_restricted: false,
  updated_at: "1",
});
const TREE = makeTree([
  node("a"),
  node("b"),
  node("lost", "unseen"),
  node("a1", "a"),
  node("a2", "a"),
  node("a11", "a1"),
]);
const ID = "01234567-89ab-cdef-0123-456789abcdef";

test("rows follow the open pages, and a page with an unseen parent is at the top", () => {
  const shown = visibleRows(TREE, new Set(["a", "b"])).map((row) => [
    row.node.id,
    row.level,
    row.position,
    row.siblings,
  ]);
  assert.deepEqual(shown, [
    ["a", 1, 1, 3],
    ["a1", 2, 1, 2],
    ["a2", 2, 2, 2],
    ["b", 1, 2, 3],
    ["lost", 1, 3, 3],
  ]);
});

test("the way to a page and its neighbours in reading order", () => {
  assert.deepEqual(
    above(TREE, "a11").map((one) => one.id),
    ["a", "a1"],
  );
  assert.deepEqual(
    neighbours(TREE, "a11").map((one) => one?.id),
    ["a1", "a2"],
  );
  assert.deepEqual(neighbours(TREE, "none"), [undefined, undefined]);
});

test("a circle of parents ends", () => {
  const circle = makeTree([node("x", "y"), node("y", "x")]);
  assert.equal(above(circle, "x").length, 1);
  assert.deepEqual(visibleRows(circle, new Set(["x", "y"])), []);
});

test("only a long list is rendered in part", () => {
  assert.deepEqual(rowWindow(500, 9000, 800, 32), { first: 0, last: 500 });
  const part = rowWindow(5000, 32_000, 800, 32);
  assert.deepEqual(part, { first: 980, last: 1045 });
});

test("10,000 titles are searched within a frame", () => {
  const all = Array.from({ length: 10_000 }, (_, at) =>
    candidate(`${at}`, `What was decided in week ${at}`),
  );
  const before = process.cpuUsage();
  const found = match(all, "week 777", 8);
  const { user } = process.cpuUsage(before);
  assert.equal(found[0]?.id, "777");
  assert.ok(user < 100_000, `${user} µs`);
});

test("words match in any order, without case and accents", () => {
  const all = [candidate("1", "Über uns"), candidate("2", "Unser Haus"), candidate("3", "Other")];
  assert.deepEqual(
    match(all, "uns uber", 5).map((one) => one.id),
    ["1"],
  );
  assert.deepEqual(match(all, "  ", 5), []);
  assert.equal(fold("Éa"), "ea");
});

test("hits are marked, and the pieces are the text", () => {
  const pieces = marked("Plan of the plans", "plan");
  assert.equal(pieces.map((piece) => piece.text).join(""), "Plan of the plans");
  assert.deepEqual(
    pieces.filter((piece) => piece.hit).map((piece) => piece.text),
    ["Plan", "plan"],
  );
  assert.equal(excerpt("a b", "c"), undefined);
});

test("addresses lead to screens", () => {
  assert.deepEqual(routeOf(`/w/p/${ID}`, ""), { screen: "page", id: ID });
  assert.deepEqual(routeOf("/w/search", "?q=a%20b"), {
    screen: "search",
    query: "a b",
    space: "",
  });
  assert.deepEqual(routeOf("/w/search", `?q=a&space=${ID}`), {
    screen: "search",
    query: "a",
    space: ID,
  });
  assert.deepEqual(routeOf("/w/search", "?space=none"), { screen: "search", query: "", space: "" });
  assert.deepEqual(routeOf(`/w/p/${ID}/files`, ""), { screen: "files", id: ID });
  assert.deepEqual(routeOf(`/w/p/${ID}/audit`, ""), { screen: "audit", id: ID });
  assert.deepEqual(routeOf(`/w/people/${ID}`, ""), { screen: "person", id: ID });
  assert.deepEqual(routeOf("/w/p/none", ""), { screen: "nowhere" });
});

test("only pages of this site open in the workspace", () => {
  const to = (url: string): string | undefined => inWorkspace(new URL(url), "https://a.example");
  assert.equal(to(`https://a.example/p/${ID}#x`), `/w/p/${ID}#x`);
  assert.equal(to(`https://b.example/p/${ID}`), undefined);
  assert.equal(to(`https://a.example/p/${ID}/edit`), undefined);
  assert.equal(to("https://a.example/w/settings"), "/w/settings");
});

test("the longest unread pages go first, favourites last", () => {
  const kept = [1, 2, 3, 4].map((n) => ({ id: `${n}`, space_id: "s", bytes: 10, readAt: n }));
  const gone = (favoured: string[], pages: number, bytes: number): string[] =>
    tooMany(kept, new Set(favoured), new Set(), { pages, bytes });
  assert.deepEqual(gone(["1"], 2, 1000), ["2", "3"]);
  assert.deepEqual(gone(["1", "2"], 9, 15), ["3", "4", "1"]);
  assert.deepEqual(gone([], 4, 40), []);
});

test("stored pages are compared with the tree", () => {
  const tree = [node("a"), { ...node("b"), updated_at: "2" }, node("c")];
  const stored = ["a", "b", "x"].map((id) => ({ id, updated_at: "1" }));
  assert.deepEqual(compare(tree, stored), { gone: ["x"], changed: ["b"], missing: ["c"] });
});

test("a space's short name is made of its name, and is one that the server takes", () => {
  const given = [
    "Größe & Ziele",
    "  Straße – 2024! ",
    "日本",
    "Été",
    "a".repeat(80),
    `${"a".repeat(49)} b`,
  ];
  const made = ["grosse-ziele", "strasse-2024", "", "ete", "a".repeat(50), "a".repeat(49)];
  assert.deepEqual(given.map(slugOf), made);
  for (const one of made) assert.ok(!one || /^[a-z0-9](-?[a-z0-9]){0,49}$/.test(one));
});
