/**
 * Edits that the server has not accepted yet, stored in this browser before they are sent.
 *
 * Invariant: a draft is deleted only after the server has accepted all its edits, by a sign-out that
 * deletes everything, or by its user. Each one belongs to the tab that holds the lock of its name.
 */
import type { Doc } from "../doc/types";
import { database, writeFor } from "./database";
import { forgetUpload, keptUploads } from "./kept_files";

/** A request that was sent, or is about to be: it is repeated as it is until its outcome is known. */
export interface Batch {
  n: number;
  base_seq: number;
  base_id: string;
  steps: unknown[];
  title?: string;
}

export interface Draft {
  client: string;
  user: string;
  page: string;
  seq: number;
  id: string;
  title: string;
  doc: Doc;
  /** The last number that was used for a batch. */
  n: number;
  steps: unknown[];
  newTitle: string | null;
  sending: { batch: Batch; count: number } | null;
}

export function keepDraft(draft: Draft): Promise<boolean> {
  noteUnsent();
  return writeFor(draft.user, (work) => work.objectStore("drafts").put(draft));
}

export async function removeDraft(client: string): Promise<void> {
  await (await database())?.delete("drafts", client);
  noteUnsent();
}

const NOTE_MS = 500;
let noting: ReturnType<typeof setTimeout> | undefined;

/** Tells the plain pages, which see a cookie only, how many edits and files are not sent. */
export function noteUnsent(): void {
  noting ??= setTimeout(async () => {
    noting = undefined;
    const db = await database();
    const count = ((await db?.count("drafts")) ?? 0) + ((await db?.count("uploads")) ?? 0);
    const age = count ? 31_536_000 : 0;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `notes-unsent=${count}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  }, NOTE_MS);
}

/** Deletes the edits and files of a user that are not sent. */
export async function removeUnsent(user: string): Promise<void> {
  for (const one of await draftsOf(user)) await removeDraft(one.client);
  for (const one of await keptUploads(user)) await forgetUpload(one.id);
  noteUnsent();
}

export async function draftsOf(user: string): Promise<Draft[]> {
  const found = (await (await database())?.getAll("drafts")) ?? [];
  return found.filter((one) => one.user === user);
}

/** The pages with edits or files that are not sent. */
export async function unsentPages(user: string): Promise<Set<string>> {
  const found = [...(await draftsOf(user)), ...(await keptUploads(user))];
  return new Set(found.map((one) => one.page));
}

const lockOf = (client: string): string => `notes-draft-${client}`;

/** Takes a draft or an upload for this tab until the returned function is called; undefined if another has it. */
export function take(client: string): Promise<(() => void) | undefined> {
  if (!navigator.locks) return Promise.resolve(() => undefined);
  return new Promise((taken) => {
    void navigator.locks.request(lockOf(client), { ifAvailable: true }, (lock) => {
      if (!lock) {
        taken(undefined);
        return undefined;
      }
      return new Promise<void>((release) => taken(() => release()));
    });
  });
}
