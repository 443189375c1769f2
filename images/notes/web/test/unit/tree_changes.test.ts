// The tree as it will be, from the server's tree and the changes that are on their way.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TreeNode } from "../../src/api/types";
import { type Change, changed, type Move } from "../../src/app/tree_changes";
import { makeTree, visibleRows } from "../../src/app/tree_model";

const node = (id: string, parent_id: string | null = null): TreeNode => ({
  ...{ id, parent_id, title: id, is_template: false, is_restricted: false, updated_at: "1" },
});
const NODES = [
  node("a"),
  node("b"),
  node("c"),
  node("b1", "b"),
  node("b2", "b"),
  node("b21", "b2"),
];

const move = (id: string, parent: string | null, after: string | null): Move => ({
  ...{ kind: "move", id, from: "s", to: "s", parent, after, pages: [] },
});

/** The rows of a tree in one line, a page below another one with a dot for each level. */
function rows(nodes: TreeNode[]): string {
  const all = visibleRows(makeTree(nodes), new Set(nodes.map((one) => one.id)));
  return all.map((row) => ".".repeat(row.level - 1) + row.node.title).join(" ");
}
const after = (...changes: Change[]): string => rows(changed("s", NODES, changes));

test("a moved page is where it will be, with the pages below it", () => {
  assert.equal(after(move("b", null, null)), "b .b1 .b2 ..b21 a c");
  assert.equal(after(move("b2", null, "a")), "a b2 .b21 b .b1 c");
  assert.equal(after(move("a", "b", "b1")), "b .b1 .a .b2 ..b21 c");
  assert.equal(after(move("a", "c", null)), "b .b1 .b2 ..b21 c .a");
  assert.equal(after(move("b2", "b", null)), "a b .b2 ..b21 .b1 c");
});

test("moves follow each other in their order", () => {
  assert.equal(after(move("a", "c", null), move("b", "c", "a")), "c .a .b ..b1 ..b2 ...b21");
  assert.equal(after(move("a", "c", null), move("a", null, "c")), "b .b1 .b2 ..b21 c a");
});

test("a move that the server will refuse, or has done, changes nothing", () => {
  const same = (...changes: Change[]): void =>
    assert.equal(changed("s", NODES, changes), NODES, JSON.stringify(changes));
  same(move("gone", null, null));
  same(move("a", "gone", null));
  same(move("a", "b", "c"));
  same(move("b", "b21", null));
  same(move("b", "b", null));
  same({ ...move("a", null, null), from: "t", to: "u" });
  const done = changed("s", NODES, [move("a", "c", null)]);
  assert.equal(rows(changed("s", done, [move("a", "c", null)])), rows(done));
});

test("a parent that was trashed meanwhile leaves a moved page where the server has it", () => {
  const change = move("a", "b2", null);
  const without = NODES.filter((one) => !["b2", "b21"].includes(one.id));
  assert.equal(rows(changed("s", without, [change])), "a b .b1 c");
});

test("a page whose parent one may not see has its place at the top", () => {
  const nodes = [node("a"), node("lost", "unseen")];
  assert.equal(rows(changed("s", nodes, [move("a", null, "lost")])), "lost a");
});

test("a page leaves one space, and comes to another one", () => {
  const [b, b1] = [node("b"), node("b1", "b")];
  const change = { ...move("b", null, "x"), to: "t", pages: [b, b1] };
  assert.equal(rows(changed("s", NODES, [change])), "a c");
  const there = [node("x"), node("y")];
  assert.equal(rows(changed("t", there, [change])), "x b .b1 y");
  const done = [...there, b, b1];
  assert.equal(rows(changed("t", done, [change])), "x b .b1 y", "the server has it there already");
  assert.equal(rows(changed("t", there, [{ ...change, parent: "gone", after: null }])), "x y");
});

test("a page that is trashed goes with those below it; a new one is the last", () => {
  assert.equal(after({ kind: "trash", space: "s", id: "b2" }), "a b .b1 c");
  assert.equal(after({ kind: "trash", space: "t", id: "b2" }), rows(NODES));
  const make = (one: TreeNode): Change => ({ kind: "make", space: "s", node: one });
  assert.equal(after(make(node("n", "b"))), "a b .b1 .b2 ..b21 .n c");
  assert.equal(after(make(node("n", "gone"))), rows(NODES));
  assert.equal(after(make(node("b1", "a"))), rows(NODES), "the server has it already");
});

test("a title is shown until the tree has a newer page", () => {
  assert.equal(after({ kind: "title", id: "c", title: "C" }), "a b .b1 .b2 ..b21 C");
  assert.equal(after({ kind: "title", id: "c", title: "C", since: "1" }), "a b .b1 .b2 ..b21 C");
  assert.equal(after({ kind: "title", id: "c", title: "C", since: "0" }), rows(NODES));
});
