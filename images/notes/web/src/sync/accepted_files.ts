/** Files that the server has accepted, kept for a day in case a failover loses them. */
import { beginWriting, writeFor } from "./database";
import { forgetUpload } from "./kept_files";
import type { KeptRequest, KeptUpload } from "./stored";

/** An accepted file is kept in case a failover loses it: so many bytes of one, and of all together. */
export const MOST_OF_ONE = 64 * 1024 * 1024;
const MOST_OF_ALL = 256 * 1024 * 1024;

/** Those of the accepted files whose bytes are given up, the oldest first. */
export function tooLarge(found: readonly KeptRequest[]): string[] {
  let left = MOST_OF_ALL;
  const byAge = found.filter((one) => one.kind === "file").sort((a, b) => b.at - a.at);
  return byAge.flatMap(({ key, size = 0 }) => {
    if (size <= Math.min(left, MOST_OF_ONE)) {
      left -= size;
      return [];
    }
    return [key];
  });
}

/** Turns an upload that the server has made an attachment into a request that it may have to repeat. */
export async function keepAccepted(kept: KeptUpload, id: string, title: string): Promise<void> {
  const { id: key, user, page, name: body, size, type } = kept;
  const made = { key, user, page, title, id, body, size, type, at: Date.now(), doubt: "" };
  // Without room for it the upload is over all the same.
  const isKept = await writeFor(user, async (work) => {
    await work.objectStore("requests").put({ ...made, kind: "file" });
    await work.objectStore("uploads").delete(key);
  }).catch(() => false);
  if (!isKept) {
    await forgetUpload(key);
    return;
  }
  const work = await beginWriting("requests", "files");
  for (const one of tooLarge((await work?.objectStore("requests").getAll()) ?? []))
    await work?.objectStore("files").delete(one);
  await work?.done;
}
