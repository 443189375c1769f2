/**
 * Edits that the server has not accepted yet, stored in this browser before they are sent.
 *
 * Invariant: a draft is deleted only after the server has accepted all its edits, by a sign-out that
 * deletes everything, or by its user. Each one belongs to the tab that holds the lock of its name.
 */
import { beginWriting, database, writeFor, type Writing } from "./database";
import { forgetUpload, keptUploads } from "./kept_files";
import { forgetRequest, keptRequests } from "./kept_requests";
import { whileHeld } from "./leases";
import type { Draft, Remembered, StoredDoubt, StoredDraft, StoredEdit } from "./stored";
import { noteUnsent } from "./unsent_count";

export { take, takeStored } from "./leases";
export { noteUnsent } from "./unsent_count";

/** What changes in the browser's store together. */
export interface Keeping {
  draft: Draft;
  /** True if the server has accepted everything: the draft is only remembered. */
  isSent: boolean;
  /** The stored edits after this one were taken back. */
  cut: number | undefined;
  /** The first edit that is remembered; undefined if none is. */
  oldest: number | undefined;
  fresh: StoredEdit[];
  doubts: StoredDoubt[];
}

/** How long a session is remembered after its last accepted edit, and a request after its answer. */
export const REMEMBERED_MS = 24 * 3_600_000;

/** When a session was over: at its last accepted edit, not when it followed those of others. */
export const overAt = (fresh: readonly StoredEdit[], before: number | undefined): number =>
  before === undefined || fresh.some((edit) => edit.isOwn) ? Date.now() : before;

/**
 * Stores the state of a session; false if its user is not signed in any more, and what is stored for them was cleared.
 *
 * What was typed may wait for a slow write, or in another tab, while the sign-in ends: it is stored all the same.
 */
export const keepDraft = (keeping: Keeping): Promise<boolean> =>
  whileHeld(keeping.draft.client, keepAnyhow(keeping));

/** Words that are not sent come before copies of what the server has: without room for them, copies go. */
async function keepAnyhow(keeping: Keeping): Promise<boolean> {
  const keep = (): Promise<boolean> => keepNow(keeping);
  try {
    return await keep();
  } catch (error) {
    const part = await import("./free_room").catch(() => undefined);
    if (!part) throw error;
    return part.withRoom(error, keeping.draft.user, keep);
  }
}

async function keepNow(keeping: Keeping): Promise<boolean> {
  const { isSent, cut, oldest, fresh, doubts } = keeping;
  const { doc, ...draft } = keeping.draft;
  const { client, base } = draft;
  noteUnsent();
  const act = async (work: Writing): Promise<void> => {
    const [drafts, remembered] = [work.objectStore("drafts"), work.objectStore("remembered")];
    const [accepted, bases] = [work.objectStore("accepted"), work.objectStore("bases")];
    const isRemembered = oldest !== undefined || draft.awaited !== undefined;
    const isStored = !isSent || isRemembered;
    if (isStored && !(await bases.count([client, base]))) {
      await bases.delete(basesOf(client));
      await bases.put({ client, base, doc });
    }
    const at = overAt(fresh, (await remembered.get(client))?.at);
    const writes: Promise<unknown>[] = [];
    if (!isSent) writes.push(drafts.put(draft), remembered.delete(client));
    else {
      writes.push(drafts.delete(client));
      if (isRemembered) writes.push(remembered.put({ ...draft, at }));
    }
    if (cut !== undefined) writes.push(accepted.delete(between(client, cut + 1, Infinity)));
    for (const edit of fresh) writes.push(accepted.put(edit));
    if (oldest !== undefined && fresh.length) {
      writes.push(accepted.delete(between(client, -1, oldest - 1)));
    }
    for (const one of doubts) writes.push(work.objectStore("doubts").put(one));
    await Promise.all(writes);
    if (!isStored && !(await remembered.count(client))) await bases.delete(basesOf(client));
  };
  const isKept = await writeFor(draft.user, act, true);
  // What was accepted may go after a sign-out, too; with a doubtful place, the draft is all that is stored of it.
  if (!isKept && isSent && !doubts.length) await removeDraft(client);
  return isKept;
}

const between = (client: string, from: number, to: number): IDBKeyRange =>
  IDBKeyRange.bound([client, from], [client, to]);

const basesOf = (client: string): IDBKeyRange => IDBKeyRange.bound([client], [client, []]);

export async function removeDraft(client: string): Promise<void> {
  const work = await beginWriting("drafts", "remembered", "bases");
  await work?.objectStore("drafts").delete(client);
  if (work && !(await work.objectStore("remembered").count(client))) {
    await work.objectStore("bases").delete(basesOf(client));
  }
  await work?.done;
  noteUnsent();
}

/** A stored session with its content; undefined if it is not stored any more. */
export async function whole(
  name: "drafts" | "remembered",
  client: string,
): Promise<Draft | undefined> {
  const work = (await database())?.transaction([name, "bases"]);
  const found = await work?.objectStore(name).get(client);
  // Before the content was stored apart, it was in the draft.
  if (!work || !found || "doc" in found) return found && { ...(found as Draft), passed: [] };
  const base = await work.objectStore("bases").get([client, found.base]);
  return base && { ...found, doc: base.doc };
}

/** The edits that the server has accepted of a session, oldest first. */
export async function editsOf(client: string): Promise<StoredEdit[]> {
  const range = between(client, -1, Infinity);
  return (await (await database())?.getAll("accepted", range)) ?? [];
}

/** The sessions of a user that are remembered; what is too old is forgotten. */
export async function rememberedOf(user: string): Promise<Remembered[]> {
  const found = (await (await database())?.getAll("remembered")) ?? [];
  for (const one of found) if (one.at < Date.now() - REMEMBERED_MS) await forget(one.client);
  return found.filter((one) => one.user === user && one.at >= Date.now() - REMEMBERED_MS);
}

export async function forget(client: string): Promise<void> {
  const work = await beginWriting("remembered", "accepted", "drafts", "bases");
  await work?.objectStore("remembered").delete(client);
  await work?.objectStore("accepted").delete(between(client, -1, Infinity));
  if (work && !(await work.objectStore("drafts").count(client))) {
    await work.objectStore("bases").delete(basesOf(client));
  }
  await work?.done;
}

/** The doubtful places of a user. */
export async function doubtsOf(user: string): Promise<StoredDoubt[]> {
  const found = (await (await database())?.getAll("doubts")) ?? [];
  return found.filter((one) => one.user === user);
}

/** Removes a doubtful place; false if another tab has done so. */
export async function removeDoubt(id: string): Promise<boolean> {
  const work = await beginWriting("doubts");
  const found = await work?.objectStore("doubts").get(id);
  await work?.objectStore("doubts").delete(id);
  await work?.done;
  noteUnsent();
  return found !== undefined;
}

/** Deletes the edits and files of a user that are not sent, and the doubtful places. */
export async function removeUnsent(user: string): Promise<void> {
  for (const one of await draftsOf(user)) await removeDraft(one.client);
  for (const one of await keptUploads(user)) await forgetUpload(one.id);
  for (const one of await doubtsOf(user)) await removeDoubt(one.id);
  for (const one of await rememberedOf(user)) await forget(one.client);
  for (const one of await keptRequests(user)) await forgetRequest(one.key);
  noteUnsent();
}

export async function draftsOf(user: string): Promise<StoredDraft[]> {
  const found = (await (await database())?.getAll("drafts")) ?? [];
  return found.filter((one) => one.user === user);
}

/** The pages with edits or files that are not sent. */
export async function unsentPages(user: string): Promise<Set<string>> {
  const found = [...(await draftsOf(user)), ...(await keptUploads(user))];
  return new Set(found.map((one) => one.page));
}
