/** Where a page comes that is dropped in the tree. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TreeNode } from "../../src/api/types";
import { dropPlace } from "../../src/app/drop_place";
import { makeTree, type Row, visibleRows } from "../../src/app/tree_model";

const node = (id: string, parent_id: string | null): TreeNode =>
  ({ id, parent_id, title: id }) as TreeNode;
// a (with a1, a2), b, c; "hidden" is a page whose parent the reader may not see.
const tree = makeTree([
  node("a", null),
  node("a1", "a"),
  node("a2", "a"),
  node("b", null),
  node("c", null),
  node("hidden", "secret"),
]);
const row = (id: string, open: string[] = []): Row => {
  const found = visibleRows(tree, new Set(["a", ...open])).find((one) => one.node.id === id);
  assert.ok(found);
  return found;
};
const closed = (id: string): Row => ({ ...row(id), isOpen: false });

test("a page comes before, behind or below the page of the row", () => {
  assert.deepEqual(dropPlace(tree, "c", row("b"), 0.1), {
    parent: null,
    after: "a",
    how: "before",
  });
  assert.deepEqual(dropPlace(tree, "c", row("a"), 0.1), {
    parent: null,
    after: null,
    how: "before",
  });
  assert.deepEqual(dropPlace(tree, "c", row("a"), 0.5), { parent: "a", after: "a2", how: "into" });
  assert.deepEqual(dropPlace(tree, "c", row("a1"), 0.9), {
    parent: "a",
    after: "a1",
    how: "after",
  });
  assert.deepEqual(dropPlace(tree, "c", closed("a"), 0.9), {
    parent: null,
    after: "a",
    how: "after",
  });
  assert.deepEqual(dropPlace(tree, "a1", row("b"), 0.5), { parent: "b", after: null, how: "into" });
});

test("behind an open page is before its first child", () => {
  assert.deepEqual(dropPlace(tree, "c", row("a"), 0.9), { parent: "a", after: null, how: "after" });
});

test("nothing comes to itself, below itself, or to where it is", () => {
  assert.equal(dropPlace(tree, "a", row("a"), 0.5), null);
  assert.equal(dropPlace(tree, "a", row("a1"), 0.5), null);
  assert.equal(dropPlace(tree, "b", row("c"), 0.1), null);
  assert.equal(dropPlace(tree, "b", closed("a"), 0.9), null);
  assert.equal(dropPlace(tree, "a2", row("a"), 0.5), null);
  assert.equal(dropPlace(tree, "away", row("a"), 0.5), null);
});

test("a page whose parent is not seen is at the top", () => {
  assert.deepEqual(dropPlace(tree, "b", row("hidden"), 0.9), {
    parent: null,
    after: "hidden",
    how: "after",
  });
});
