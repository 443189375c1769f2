/** Stores the pictures of a page for offline reading. */
import { isCurrent } from "../api/signed_in";
import { pictures } from "../doc/text";
import { database, session, writeFor } from "./database";
import type { StoredPage } from "./stored";

const MOST_BYTES = 10_000_000;
/** The pictures that are too large to be stored: each is asked for once. */
const tooLarge = new Set<string>();

/** A stored picture of the user who is signed in; undefined if there is none. */
export async function storedPicture(id: string): Promise<Blob | undefined> {
  const [db, who] = [await database(), await session()];
  const found = await db?.get("pictures", id);
  return found && who?.isActive && found.user === who.me.id ? found.blob : undefined;
}

/** Stores the pictures of a stored page that are not stored yet; a failure is no error. */
export async function keepPictures(page: StoredPage): Promise<void> {
  const db = await database();
  if (!db) return;
  const isSame = isCurrent();
  for (const id of pictures(page.node.doc)) {
    if (tooLarge.has(id) || (await db.getKey("pictures", id))) continue;
    try {
      const answer = await fetch(`/api/v1/attachments/${id}`, { cache: "no-cache" });
      const length = Number(answer.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
      if (!answer.ok || length > MOST_BYTES) {
        if (answer.ok) tooLarge.add(id);
        // Left alone, the browser goes on to load all of it.
        await answer.body?.cancel();
        continue;
      }
      const { id: page_id, user } = page;
      const kept = { id, user, page_id, blob: await answer.blob() };
      if (!isSame()) return;
      await writeFor(user, async (work) => {
        // The page may have been removed meanwhile, and its pictures with it.
        if (!(await work.objectStore("pages").getKey(page_id))) return;
        await work.objectStore("pictures").put(kept);
      });
    } catch {
      return; // without a network the next reading tries again
    }
  }
}
