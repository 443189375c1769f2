/** Stores the pictures of a page for offline reading. */
import { isCurrent } from "../api/signed_in";
import { pictures } from "../doc/text";
import { database, session, type Writing, writeFor } from "./database";
import type { StoredPage } from "./stored";

const MOST_BYTES = 10_000_000;
/** More is not stored of one page: it would take the room of all others. */
const MOST_OF_PAGE = 50_000_000;
/** The pictures that are too large to be stored: each is asked for once. */
const tooLarge = new Set<string>();

/** A stored picture of the user who is signed in; undefined if there is none. */
export async function storedPicture(id: string): Promise<Blob | undefined> {
  const [db, who] = [await database(), await session()];
  const found = await db?.get("pictures", id);
  return found && who?.isActive && found.user === who.me.id ? found.blob : undefined;
}

/** The answers that say that this person may not see a file, or that it is gone. */
const REFUSED = new Set([401, 403, 404, 410]);

/**
 * The stored copy of a picture that its address has not shown; undefined if the server refuses the picture.
 *
 * The element does not say why it shows nothing: a file that was deleted for ever must not appear again.
 */
export async function copyOf(id: string): Promise<Blob | undefined> {
  const stored = await storedPicture(id);
  if (!stored) return undefined;
  const isSame = isCurrent();
  const init: RequestInit = { method: "HEAD", cache: "no-store" };
  const status = await fetch(`/api/v1/attachments/${id}`, init).then(
    (answer) => answer.status,
    () => 0,
  );
  if (!isSame()) return undefined;
  if (!REFUSED.has(status)) return stored;
  // After the end of a session the copy stays for the next sign-in of the same user.
  if (status !== 401) await removePicture(id);
  return undefined;
}

async function removePicture(id: string): Promise<void> {
  const user = (await session())?.me.id ?? "";
  await writeFor(user, async (work) => {
    const found = await work.objectStore("pictures").get(id);
    if (!found) return;
    await work.objectStore("pictures").delete(id);
    const page = await work.objectStore("pages").get(found.page_id);
    await count(work, found.page_id, Math.max(0, (page?.pictures ?? 0) - found.blob.size));
  });
}

/**
 * Stores the pictures of a stored page that are not stored yet, and removes those that its text has no longer; a failure
 * is no error. Returns the bytes of those that are stored, which count as the page's.
 */
export async function keepPictures(page: StoredPage): Promise<number> {
  const named = new Set([page.node.doc, ...(page.base ? [page.base.doc] : [])].flatMap(pictures));
  const before = await settle(page, named);
  if (!named.size) return before;
  await fetchMissing(page, named, MOST_OF_PAGE - before).catch(() => undefined);
  return settle(page, named);
}

/** Removes the pictures of a page that are not named, and counts the others at the page. */
async function settle({ id, user }: StoredPage, named: ReadonlySet<string>): Promise<number> {
  let sum = 0;
  await writeFor(user, async (work) => {
    const stored = work.objectStore("pictures");
    for (const one of await stored.index("page_id").getAll(id)) {
      if (named.has(one.id)) sum += one.blob.size;
      else await stored.delete(one.id);
    }
    await count(work, id, sum);
  });
  return sum;
}

/** Notes at a stored page how many bytes its pictures have. */
export async function count(work: Writing, id: string, sum: number): Promise<void> {
  const page = await work.objectStore("pages").get(id);
  const before = page?.pictures ?? 0;
  if (!page || before === sum) return;
  await work.objectStore("pages").put({ ...page, bytes: page.bytes - before + sum, pictures: sum });
}

/** Fails without a network: then the next reading tries again. */
async function fetchMissing(
  { id: page_id, user }: StoredPage,
  named: ReadonlySet<string>,
  room: number,
): Promise<void> {
  const db = await database();
  if (!db) return;
  const isSame = isCurrent();
  let left = room;
  for (const id of named) {
    if (tooLarge.has(id) || (await db.getKey("pictures", id))) continue;
    const answer = await fetch(`/api/v1/attachments/${id}`, { cache: "no-cache" });
    const length = Number(answer.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
    if (!answer.ok || length > Math.min(MOST_BYTES, left)) {
      if (answer.ok) tooLarge.add(id);
      // Left alone, the browser goes on to load all of it.
      await answer.body?.cancel();
      continue;
    }
    const kept = { id, user, page_id, blob: await answer.blob() };
    if (!isSame()) return;
    left -= kept.blob.size;
    await writeFor(user, async (work) => {
      // The page may have been removed meanwhile, and its pictures with it.
      if (!(await work.objectStore("pages").getKey(page_id))) return;
      await work.objectStore("pictures").put(kept);
    });
  }
}
