/** Keeps the stored pages of a space as its tree has them; all of them, where the user keeps the space. */
import { ApiError } from "../api/client";
import { load } from "../api/signed_in";
import type { PageNode, TreeNode } from "../api/types";
import { type Writing, writeFor } from "./database";
import { compare, room } from "./limits";
import { addPage, keepBase, removePage, removeTooMany, spacesKept, storedPages } from "./offline";

const AT_ONCE = 2;

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

async function keepNow({ spaceId, nodes, user, favoured }: Wanted): Promise<void> {
  const put = (work: Writing) => work.objectStore("trees").put({ space_id: spaceId, user, nodes });
  if (!(await writeFor(user, put))) return;
  const all = await storedPages(user);
  const stored = all
    .filter((one) => one.space_id === spaceId)
    .map((one) => ({ id: one.id, updated_at: one.node.updated_at }));
  const { gone, changed, missing } = compare(nodes, stored);
  for (const id of gone) await removePage(id);
  await readAll(changed, user, favoured);
  const spaces = await spacesKept(user);
  const left = room(all, spaces);
  if (!spaces.has(spaceId) || !missing.length || left.bytes <= 0) return;
  const goesOn = async (bytes: number): Promise<boolean> =>
    bytes < left.bytes && (await spacesKept(user)).has(spaceId);
  await readAll(missing.slice(0, left.pages), user, favoured, goesOn);
}

/**
 * Reads and stores pages, a few at a time; stops when the server cannot be reached, and where it does not go on.
 *
 * What is too much goes once, at the end: to find it, all that is stored is read.
 */
export async function readAll(
  ids: string[],
  user: string,
  favoured: ReadonlySet<string>,
  goesOn: (bytes: number) => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  if (!ids.length) return;
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
        if (!(error instanceof ApiError) || error.status === 401 || error.status === 429) return;
        if (error.status === 404 || error.status === 403) await removePage(id);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await removeTooMany(user, favoured);
}
