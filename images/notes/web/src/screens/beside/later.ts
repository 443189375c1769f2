/**
 * Comments that were written without a network: shown with the others, and sent with its return.
 *
 * Their ids are known before: key and account decide them, so that answers to them can be written, too. Invariant: a
 * comment is stored in this browser before its person reads that it is kept, and only they see it.
 */
import { signal } from "@preact/signals";
import type { Comment } from "../../api/types";
import { me, userId } from "../../app/store";
import { isWaiting } from "../../app/waiting";
import { noteUnsent } from "../../sync/drafts";
import { forgetRequest, keepRequest, keptRequests } from "../../sync/kept_requests";
import { ownId } from "../../sync/own_id";
import { WAITING } from "../../sync/repeats";
import type { KeptRequest } from "../../sync/stored";
import { beside } from "./words";

/** The comments that wait, of whomever. */
const later = signal<readonly KeptRequest[]>([]);

/** Reads which comments wait. */
export async function showLater(): Promise<void> {
  const found = await keptRequests(userId());
  later.value = found
    .filter((one) => one.kind === "post" && one.doubt === WAITING)
    .sort((a, b) => a.at - b.at);
}

/** The user's comments on a page that wait, as they will be. */
export const waitingOn = (page: string): Comment[] =>
  later.value.filter((one) => one.user === userId() && one.page === page).map(asComment);

const waitingFor = (id: string): KeptRequest | undefined =>
  later.value.find((one) => one.id === id && one.user === userId());

/** True for a comment that the server does not have yet. */
export const isLater = (id: string): boolean => waitingFor(id) !== undefined;

/** True if a request has to wait for one that the server does not have yet. */
export const mustWait = ({ kind, page, parent }: { kind: string; page: string; parent?: string }) =>
  kind === "post" && (isWaiting(page) || (parent !== undefined && isLater(parent)));

/** Stores a comment until there is a network; undefined where this browser cannot. */
export async function keepLater(asked: KeptRequest): Promise<Comment | undefined> {
  const id = await ownId(asked.user, asked.key);
  if (!id) return undefined;
  const one = { ...asked, id, at: Date.now(), doubt: WAITING };
  if (!(await keepRequest(one).catch(() => false))) return undefined;
  noteUnsent();
  await showLater();
  return asComment(one);
}

/** What is said of a comment that was just written: `text`, or that it waits. */
export const saidOf = (made: Comment | undefined, text: string): string =>
  made && isLater(made.id) ? beside.value.keptHere : text;

/** Gives up a comment that waits, with the answers to it; false if it does not wait any more. */
export async function giveUpLater(id: string): Promise<boolean> {
  const one = waitingFor(id);
  if (!one) return false;
  for (const answer of later.value) if (answer.parent === id) await forgetRequest(answer.key);
  await forgetRequest(one.key);
  noteUnsent();
  await showLater();
  return true;
}

const asComment = (one: KeptRequest): Comment => ({
  ...{ id: one.id, parent_id: one.parent ?? null, author_id: one.user },
  ...{ author_name: me.value?.name ?? null, body: one.body ?? "", quote: one.quote ?? null },
  ...{ created_at: new Date(one.at).toISOString(), edited_at: null, resolved_at: null },
  state_changed_at: null,
});
