/** Keeps the stored pages of a space as its tree has them; all of them, where the user keeps the space. */
import { signal } from "@preact/signals";
import { ApiError } from "../api/client";
import { load } from "../api/signed_in";
import type { PageNode, TreeNode } from "../api/types";
import { database, keepValue, value, type Writing, writeFor } from "./database";
import { compare, isFull, room } from "./limits";
import { addPage, keepBase, removePage, removeTooMany, spacesKept, storedPages } from "./offline";

const AT_ONCE = 2;

/** How many pages of a space that one keeps are not stored, and why: the last reason that was met. */
export interface NotKept {
  pages: number;
  why: "room" | "limit" | "failed";
}

/** By the ids of the spaces, since this start; the store has those of earlier ones, unless it is full. */
export const notKept = signal<ReadonlyMap<string, NotKept | undefined>>(new Map());

const nameOf = (spaceId: string): string => `not kept ${spaceId}`;
export const storedNotKept = (spaceId: string, user: string): Promise<NotKept | undefined> =>
  value<NotKept>(nameOf(spaceId), user);

interface Wanted {
  spaceId: string;
  nodes: TreeNode[];
  user: string;
  favoured: ReadonlySet<string>;
}

/** The spaces that are being kept, each with the newest request that came meanwhile. */
const running = new Map<string, Wanted | undefined>();

/**
 * Stores a tree, removes the stored pages that are gone, and reads the changed ones again.
 *
 * One at a time for each space: every event reads a tree, and two that run at once would read the same pages twice.
 */
export async function keepTree(
  spaceId: string,
  nodes: TreeNode[],
  user: string,
  favoured: ReadonlySet<string>,
): Promise<void> {
  const wanted = { spaceId, nodes, user, favoured };
  if (running.has(spaceId)) {
    running.set(spaceId, wanted);
    return;
  }
  try {
    for (let next: Wanted | undefined = wanted; next; next = running.get(spaceId)) {
      running.set(spaceId, undefined);
      await keepNow(next);
    }
  } finally {
    running.delete(spaceId);
  }
}

async function keepNow(wanted: Wanted): Promise<void> {
  let why: NotKept["why"] | undefined;
  try {
    why = await readMissing(wanted);
  } catch (error) {
    why = reason(error);
    throw error;
  } finally {
    await noteMissing(wanted, why ?? "failed").catch(() => undefined);
  }
}

const reason = (error: unknown): NotKept["why"] => (isFull(error) ? "room" : "failed");

/** Notes what is not stored of a space that one keeps: its person asks for that, and sees no error. */
async function noteMissing({ spaceId, nodes, user }: Wanted, why: NotKept["why"]): Promise<void> {
  if (!(await spacesKept(user)).has(spaceId)) return;
  const keys = (await (await database())?.getAllKeysFromIndex("pages", "space_id", spaceId)) ?? [];
  const stored = new Set(keys);
  const pages = nodes.filter((node) => !stored.has(node.id)).length;
  const now = pages ? { pages, why } : undefined;
  notKept.value = new Map(notKept.value).set(spaceId, now);
  const before = await storedNotKept(spaceId, user);
  if (JSON.stringify(before) !== JSON.stringify(now)) await keepValue(nameOf(spaceId), user, now);
}

/** Stores the tree and its pages; why some are not read, if that is known. */
async function readMissing(wanted: Wanted): Promise<NotKept["why"] | undefined> {
  const { spaceId, nodes, user, favoured } = wanted;
  const put = (work: Writing) => work.objectStore("trees").put({ space_id: spaceId, user, nodes });
  if (!(await writeFor(user, put))) return undefined;
  const all = await storedPages(user);
  const stored = all
    .filter((one) => one.space_id === spaceId)
    .map((one) => ({ id: one.id, updated_at: one.node.updated_at }));
  const { gone, changed, missing } = compare(nodes, stored);
  for (const id of gone) await removePage(id);
  const first = await readAll(changed, user, favoured);
  const spaces = await spacesKept(user);
  const left = room(all, spaces);
  if (!spaces.has(spaceId) || !missing.length) return first;
  if (left.bytes <= 0) return "limit";
  let isLimited = missing.length > left.pages;
  const goesOn = async (bytes: number): Promise<boolean> => {
    isLimited ||= bytes >= left.bytes;
    return bytes < left.bytes && (await spacesKept(user)).has(spaceId);
  };
  const why = await readAll(missing.slice(0, left.pages), user, favoured, goesOn);
  return why ?? (isLimited ? "limit" : undefined);
}

/**
 * Reads and stores pages, a few at a time; stops when the server cannot be reached, and where it does not go on. Returns why a page
 * could not be stored.
 *
 * What is too much goes once, at the end: to find it, all that is stored is read.
 */
export async function readAll(
  ids: string[],
  user: string,
  favoured: ReadonlySet<string>,
  goesOn: (bytes: number) => Promise<boolean> = () => Promise.resolve(true),
): Promise<NotKept["why"] | undefined> {
  if (!ids.length) return undefined;
  let why: NotKept["why"] | undefined;
  const waiting = [...ids];
  let bytes = 0;
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      try {
        if (!(await goesOn(bytes))) return;
        const node = await load<PageNode>(`/api/v1/nodes/${id}`, () => undefined);
        bytes += await addPage(node, user);
        await keepBase(node, user);
      } catch (error) {
        if (why !== "room") why = reason(error);
        if (!(error instanceof ApiError) || error.status === 401 || error.status === 429) return;
        if (error.status === 404 || error.status === 403) await removePage(id);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await removeTooMany(user, favoured);
  return why;
}
