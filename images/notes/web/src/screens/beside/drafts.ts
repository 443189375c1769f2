/**
 * The texts of comments that are being written in this tab, by their users and places.
 *
 * Invariant: a text lasts until it is sent or given up, over a reload and a new sign-in of its user; it ends with its
 * tab, and with a sign-out that deletes what is stored.
 */
import { signal } from "@preact/signals";
import type { Person } from "../../api/types";
import { TYPED } from "../../app/typed";

export interface CommentDraft {
  text: string;
  people: Person[];
  /** The page that it is about. */
  page?: string;
  /** Of a reply: the passage of its thread. */
  quote?: string;
}

function read(): [string, CommentDraft][] {
  try {
    const found: [string, CommentDraft][] = JSON.parse(sessionStorage.getItem(TYPED) ?? "[]");
    return found.filter(([, { text }]) => text.trim());
  } catch {
    return [];
  }
}

export const drafts = new Map(read());
/** Counts the texts that were begun, and those that are over. */
export const draftTurns = signal(0);
let isStored = drafts.size > 0;

/** Keeps what is typed; without a draft it is over. */
export function noteDraft(key: string, draft?: CommentDraft): void {
  try {
    // A sign-out has removed them.
    if (isStored && sessionStorage.getItem(TYPED) === null) drafts.clear();
  } catch {
    // It has none.
  }
  if (drafts.has(key) !== Boolean(draft)) draftTurns.value += 1;
  if (draft) drafts.set(key, draft);
  else drafts.delete(key);
  isStored = false;
  try {
    sessionStorage.setItem(TYPED, JSON.stringify([...drafts]));
    isStored = true;
  } catch {
    // No room: this tab has it all the same.
  }
}
