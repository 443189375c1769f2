/** Decides which stored pages have to go, and which have to be read again. */
import type { TreeNode } from "../api/types";

export const MOST_PAGES = 500;
export const MOST_BYTES = 100_000_000;

export interface Kept {
  id: string;
  bytes: number;
  readAt: number;
}

/** The ids of the pages to remove, the longest unread first, except the `favoured`. */
export function tooMany(
  kept: Kept[],
  favoured: ReadonlySet<string>,
  most = { pages: MOST_PAGES, bytes: MOST_BYTES },
): string[] {
  const byAge = [...kept].sort((a, b) => a.readAt - b.readAt);
  let pages = byAge.length;
  let bytes = byAge.reduce((sum, one) => sum + one.bytes, 0);
  const removed: string[] = [];
  for (const pass of [false, true]) {
    for (const one of byAge) {
      if (pages <= most.pages && bytes <= most.bytes) return removed;
      if (favoured.has(one.id) !== pass) continue;
      removed.push(one.id);
      pages -= 1;
      bytes -= one.bytes;
    }
  }
  return removed;
}

export interface Refresh {
  gone: string[];
  changed: string[];
}

/**
 * Compares the stored pages of a space with its tree: those that are gone, and those to be read
 * (again). With `keepAll` also the pages that are not stored yet.
 */
export function compare(
  tree: TreeNode[],
  stored: { id: string; updated_at: string }[],
  keepAll: boolean,
): Refresh {
  const current = new Map(tree.map((node) => [node.id, node.updated_at]));
  const known = new Set(stored.map((one) => one.id));
  const gone = stored.filter((one) => !current.has(one.id)).map((one) => one.id);
  const changed = stored
    .filter((one) => current.has(one.id) && current.get(one.id) !== one.updated_at)
    .map((one) => one.id);
  if (keepAll) changed.push(...tree.filter((node) => !known.has(node.id)).map((node) => node.id));
  return { gone, changed };
}
