/** Stores the pages that the user has read, and keeps them current. */
import { load } from "../api/signed_in";
import { type LiveView, mayWrite, type PageNode, type TreeNode } from "../api/types";
import { plainText } from "../doc/text";
import { beginWriting, database, value, type Writing, writeFor } from "./database";
import { tooMany } from "./limits";
import { keepPictures } from "./pictures";
import type { PageBase, StoredPage } from "./stored";

/** A stored page of this user. */
export async function storedPage(id: string, user: string): Promise<StoredPage | undefined> {
  const found = await (await database())?.get("pages", id);
  return found?.user === user ? found : undefined;
}

/** What a start shows of the store: values by their names, the page tree of each space, and a page. */
export interface StoredStart {
  values: ReadonlyMap<string, unknown>;
  trees: ReadonlyMap<string, TreeNode[]>;
  page: StoredPage | undefined;
}

/** Reads in one go what a start shows: each further transaction costs a start some milliseconds. */
export async function storedStart(
  user: string,
  names: readonly string[],
  pageId: string,
): Promise<StoredStart> {
  const work = (await database())?.transaction(["values", "trees", "pages"]);
  const [values, trees, page] = await Promise.all([
    Promise.all(names.map((name) => work?.objectStore("values").get(name))),
    work?.objectStore("trees").getAll(),
    work?.objectStore("pages").get(pageId),
  ]);
  const isTheirs = (one: { user: string } | undefined): boolean => one?.user === user;
  const own = values.filter((one) => one !== undefined).filter(isTheirs);
  return {
    values: new Map(own.map((one) => [one.name, one.value])),
    trees: new Map((trees ?? []).filter(isTheirs).map((one) => [one.space_id, one.nodes])),
    page: isTheirs(page) ? page : undefined,
  };
}

export async function storedPages(user: string): Promise<StoredPage[]> {
  const all = (await (await database())?.getAll("pages")) ?? [];
  return all.filter((page) => page.user === user);
}

/** Stores a page that was read; the longest unread ones go if there are too many. */
export async function keepPage(
  node: PageNode,
  user: string,
  favoured: ReadonlySet<string>,
): Promise<void> {
  if (await addPage(node, user)) await removeTooMany(user, favoured);
}

/** The spaces of which the user keeps all pages, as this browser has stored them. */
export const spacesKept = async (user: string): Promise<ReadonlySet<string>> =>
  new Set(await value<string[]>("kept spaces", user));

export async function removeTooMany(user: string, favoured: ReadonlySet<string>): Promise<void> {
  const spaces = await spacesKept(user);
  for (const id of tooMany(await storedPages(user), favoured, spaces)) await removePage(id);
}

/** Stores a page with its pictures, whatever is there already; returns its bytes: none if it may not be stored. */
export async function addPage(node: PageNode, user: string): Promise<number> {
  const text = plainText(node.doc);
  const own = JSON.stringify(node).length + text.length;
  const { id, space_id } = node;
  let page: StoredPage = { id, user, space_id, node, text, bytes: own, readAt: Date.now() };
  const put = async (work: Writing): Promise<unknown> => {
    const pages = work.objectStore("pages");
    const found = await pages.get(id);
    const before = found?.user === user ? found : undefined;
    const had = before?.pictures ?? 0;
    // An older base is one, too: what came after it is read with the return of the network.
    const base = needsBase(node) ? before?.base : undefined;
    page = { ...page, bytes: own + sizeOf(base) + had, pictures: had, ...(base ? { base } : {}) };
    return pages.put(page);
  };
  if (!(await writeFor(user, put))) return 0;
  return page.bytes - (page.pictures ?? 0) + (await keepPictures(page));
}

/** True if an editor of the page does not begin from its saved document. */
const needsBase = (node: PageNode): boolean => !node.edit && mayWrite(node.role);
const sizeOf = (base: PageBase | undefined): number => (base ? JSON.stringify(base).length : 0);

/** Reads and stores what an editor of a stored page begins from, if that is not the page's document. */
export async function keepBase(node: PageNode, user: string): Promise<void> {
  // Without an answer about that the server is an older one: nobody edits what it has not told of.
  if (node.edit === undefined || !needsBase(node)) return;
  const path = `/api/v1/nodes/${node.id}/live`;
  const { seq, id, title, doc, version } = await load<LiveView>(path, () => undefined);
  await writeFor(user, async (work) => {
    const pages = work.objectStore("pages");
    const found = await pages.get(node.id);
    if (found?.user !== user || !needsBase(found.node)) return;
    const base = { seq, id, title, doc, version };
    const bytes = found.bytes - sizeOf(found.base) + sizeOf(base);
    await pages.put({ ...found, base, bytes });
  });
}

/** While a page is written it is saved every 15 s: each time its base would be read again. */
const QUIET_MS = 20_000;
const soon = new Map<string, ReturnType<typeof setTimeout>>();

/** Does the same, but once in a while only if there is a base already. */
export async function keepBaseSoon(node: PageNode, user: string): Promise<void> {
  clearTimeout(soon.get(node.id));
  soon.delete(node.id);
  if (!(await storedPage(node.id, user))?.base) return keepBase(node, user);
  const read = (): void => {
    soon.delete(node.id);
    void keepBase(node, user).catch(() => undefined);
  };
  soon.set(node.id, setTimeout(read, QUIET_MS));
}

export const mayBeWritten = (node: PageNode): boolean => mayWrite(node.role) && !node.trashed_at;

/** What an editor begins from with a stored page; undefined if it is not known, or the page may not be written. */
export function baseOf({ node, base }: Pick<StoredPage, "node" | "base">): PageBase | undefined {
  if (!mayBeWritten(node)) return undefined;
  return node.edit ? { ...node.edit, title: node.title, doc: node.doc } : base;
}

/** A stored page as it is read: after the edits since its last version, as far as they are known. */
export function shownOf({ node, base }: StoredPage): PageNode {
  // A version that was saved later has more than the base.
  if (base?.version === undefined || base.version < node.version) return node;
  const { seq, id, title, doc } = base;
  return { ...node, title, doc, edit: { seq, id } };
}

export async function removePage(id: string): Promise<void> {
  const work = await beginWriting("pages", "pictures");
  if (!work) return;
  await work.objectStore("pages").delete(id);
  for (const key of await work.objectStore("pictures").index("page_id").getAllKeys(id)) {
    await work.objectStore("pictures").delete(key);
  }
  await work.done;
}

/** The spaces of which something is stored. */
export async function storedSpaces(user: string): Promise<string[]> {
  const db = await database();
  const trees = (await db?.getAll("trees")) ?? [];
  const found = [...trees, ...(await storedPages(user))].filter((one) => one.user === user);
  return [...new Set(found.map((one) => one.space_id))];
}

export async function removeTree(spaceId: string): Promise<void> {
  await (await database())?.delete("trees", spaceId);
}
