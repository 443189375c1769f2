/**
 * Edits that the server has not accepted yet, stored in this browser before they are sent.
 *
 * Invariant: a draft is deleted only after the server has accepted all its edits, by a sign-out that
 * deletes everything, or by its user. Each one belongs to the tab that holds the lock of its name.
 */
import type { Doc } from "../doc/types";
import { database, writeFor } from "./database";

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

export const keepDraft = (draft: Draft): Promise<boolean> =>
  writeFor(draft.user, (work) => work.objectStore("drafts").put(draft));

export async function removeDraft(client: string): Promise<void> {
  await (await database())?.delete("drafts", client);
}

export async function draftsOf(user: string): Promise<Draft[]> {
  const found = (await (await database())?.getAll("drafts")) ?? [];
  return found.filter((one) => one.user === user);
}

const lockOf = (client: string): string => `notes-draft-${client}`;

/** Takes a draft for this tab until the returned function is called; undefined if another has it. */
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
