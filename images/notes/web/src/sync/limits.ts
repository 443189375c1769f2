/** Decides which stored pages have to go, and which have to be read again. */
import type { TreeNode } from "../api/types";

/** The most that is stored of the pages that one has read, and of the spaces that one keeps. */
export const MOST = { pages: 500, bytes: 100_000_000 };
export const MOST_KEPT = { pages: 5_000, bytes: 1_000_000_000 };
/** No page is added beyond this part of what may be kept: what was removed for want of room would be read again. */
const FILLED = 0.9;

/** Chromium says the second where the disk itself is full. */
const FULL = new Set(["QuotaExceededError", "UnknownError"]);
/** True if the browser has no room for what was to be stored. */
export const isFull = (error: unknown): boolean => error instanceof Error && FULL.has(error.name);

export interface Kept {
  id: string;
  space_id: string;
  bytes: number;
  readAt: number;
}

const sum = (all: Kept[]): number => all.reduce((bytes, one) => bytes + one.bytes, 0);

/** The ids of the pages to remove: the pages of the spaces that one keeps have limits of their own. */
export function tooMany(
  all: Kept[],
  favoured: ReadonlySet<string>,
  spaces: ReadonlySet<string>,
  most = MOST,
  mostKept = MOST_KEPT,
): string[] {
  const isOfKept = (one: Kept): boolean => spaces.has(one.space_id);
  const others = all.filter((one) => !isOfKept(one));
  return [...beyond(others, favoured, most), ...beyond(all.filter(isOfKept), favoured, mostKept)];
}

/** Those beyond the limits, the longest unread first, the `favoured` last. */
function beyond(kept: Kept[], favoured: ReadonlySet<string>, most: typeof MOST): string[] {
  const byAge = [...kept].sort((a, b) => a.readAt - b.readAt);
  let pages = byAge.length;
  let bytes = sum(byAge);
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

/** How many pages and bytes there is still room for in the spaces that one keeps. */
export function room(
  all: Kept[],
  spaces: ReadonlySet<string>,
  most = MOST_KEPT,
): { pages: number; bytes: number } {
  const kept = all.filter((one) => spaces.has(one.space_id));
  const pages = Math.max(0, most.pages - kept.length);
  return { pages, bytes: most.bytes * FILLED - sum(kept) };
}

export interface Refresh {
  gone: string[];
  changed: string[];
  missing: string[];
}

/** Compares the stored pages of a space with its tree: those that are gone, changed, or not stored. */
export function compare(tree: TreeNode[], stored: { id: string; updated_at: string }[]): Refresh {
  const current = new Map(tree.map((node) => [node.id, node.updated_at]));
  const known = new Set(stored.map((one) => one.id));
  const gone = stored.filter((one) => !current.has(one.id)).map((one) => one.id);
  const changed = stored
    .filter((one) => current.has(one.id) && current.get(one.id) !== one.updated_at)
    .map((one) => one.id);
  const missing = tree.filter((node) => !known.has(node.id)).map((node) => node.id);
  return { gone, changed, missing };
}
