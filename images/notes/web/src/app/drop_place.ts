/** Where a page comes that is dropped on a row of the tree. Decides from the tree alone. */
import type { Row, Tree } from "./tree_model";

/** The new place: below a page (null: at the top of the space), behind another one (null: first). */
export interface DropPlace {
  parent: string | null;
  after: string | null;
  how: "before" | "into" | "after";
}

/**
 * The place of page `id` on a row, at a share of its height from 0 to 1: before the row's page in the
 * upper quarter, behind it in the lower one, last below it between them. Behind an open page is
 * before its first child. Null where it cannot come: on itself, below itself, or where it is already.
 */
export function dropPlace(tree: Tree, id: string, row: Row, share: number): DropPlace | null {
  for (let at: string | null = row.node.id; at !== null; ) {
    if (at === id) return null;
    const parent: string | null = tree.byId.get(at)?.parent_id ?? null;
    at = parent !== null && tree.byId.has(parent) ? parent : null;
  }
  const place = wanted(tree, id, row, share);
  const page = tree.byId.get(id);
  const siblings = tree.below.get(place.parent) ?? [];
  const before = siblings[siblings.findIndex((one) => one.id === id) - 1]?.id ?? null;
  const isThere = siblings.some((one) => one.id === id) && before === place.after;
  return page === undefined || isThere ? null : place;
}

function wanted(tree: Tree, id: string, row: Row, share: number): DropPlace {
  const others = (parent: string | null) =>
    (tree.below.get(parent) ?? []).filter((one) => one.id !== id);
  const target = row.node.id;
  if (share >= 0.25 && share <= 0.75) {
    return { parent: target, after: others(target).at(-1)?.id ?? null, how: "into" };
  }
  if (share > 0.75 && row.isOpen) return { parent: target, after: null, how: "after" };
  const own = row.node.parent_id;
  const parent = own !== null && tree.byId.has(own) ? own : null;
  if (share > 0.75) return { parent, after: target, how: "after" };
  const siblings = others(parent);
  const at = siblings.findIndex((one) => one.id === target);
  return { parent, after: siblings[at - 1]?.id ?? null, how: "before" };
}
