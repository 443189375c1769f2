/**
 * Makes room for what is not sent, where the store of this browser is full.
 *
 * Copies of what the server has go for it: the pictures, then the pages of the spaces that one does not keep.
 */
import { beginWriting, writeFor } from "./database";
import { isFull } from "./limits";
import { removePage, spacesKept, storedPages } from "./offline";
import { count } from "./pictures";

/** Does again what has failed with `error`, after making room for it; fails as it did, if that was not the reason. */
export async function withRoom<T>(error: unknown, user: string, act: () => Promise<T>): Promise<T> {
  let last = error;
  for (const free of [removePictures, removeRead]) {
    if (!isFull(last)) break;
    await free(user).catch(() => undefined);
    try {
      const done = await act();
      void recount(user).catch(() => undefined);
      return done;
    } catch (again) {
      last = again;
    }
  }
  throw last;
}

async function removePictures(): Promise<void> {
  const work = await beginWriting("pictures");
  await work?.objectStore("pictures").clear();
  await work?.done;
}

async function removeRead(user: string): Promise<void> {
  const spaces = await spacesKept(user);
  for (const one of await storedPages(user)) {
    if (!spaces.has(one.space_id)) await removePage(one.id);
  }
}

/** The pages that are left have no pictures. */
async function recount(user: string): Promise<void> {
  for (const { id, pictures } of await storedPages(user)) {
    if (pictures) await writeFor(user, (work) => count(work, id, 0));
  }
}
