/**
 * Requests about comments and files that the server has accepted, stored in case a failover loses them.
 *
 * Invariant: only the user who made a request has it sent again, or sees it.
 */
import { beginWriting, database, writeFor } from "./database";
import type { KeptRequest } from "./stored";

/** Stores a request, in the place of those that it replaces; false if its user is not signed in any more. */
export const keepRequest = (
  kept: KeptRequest,
  replaced: readonly string[] = [],
): Promise<boolean> =>
  writeFor(kept.user, async (work) => {
    const requests = work.objectStore("requests");
    for (const key of replaced) await requests.delete(key);
    await requests.put(kept);
  });

/** Stores what has become of a request, unless its person has replaced it or given it up meanwhile. */
export const changeRequest = (kept: KeptRequest): Promise<boolean> =>
  writeFor(kept.user, async (work) => {
    const requests = work.objectStore("requests");
    if (await requests.count(kept.key)) await requests.put(kept);
  });

export async function keptRequests(user: string): Promise<KeptRequest[]> {
  const found = (await (await database())?.getAll("requests")) ?? [];
  return found.filter((one) => one.user === user);
}

/** Removes a request and its file. */
export async function forgetRequest(key: string): Promise<void> {
  const work = await beginWriting("requests", "files");
  await work?.objectStore("requests").delete(key);
  await work?.objectStore("files").delete(key);
  await work?.done;
}
