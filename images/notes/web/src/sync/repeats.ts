/**
 * Sends requests again that the server had accepted and a failover has lost, and those that were made without a
 * network. Decides from what it is given alone.
 *
 * Invariant: what the server knows by its key is not sent again; what it refuses is a person's to decide; what
 * somebody has deleted since is forgotten.
 */
import { ApiError } from "../api/client";
import { type KeptRequest, WAITING } from "./stored";

export { WAITING };

/** The server takes so many keys at once. */
const MOST_KEYS = 500;
/** So many states may a change replace. */
const MOST_BASES = 100;
const ORDER = ["page", "favourite", "file", "post", "edit", "resolve", "delete"];

export interface Repeating {
  /** Those of the keys whose requests the server has done. */
  known(keys: string[]): Promise<readonly string[]>;
  send(one: KeptRequest): Promise<void>;
  /** The answers to a comment that the server has now. */
  answers(one: KeptRequest): Promise<readonly string[]>;
  keep(one: KeptRequest): Promise<unknown>;
  forget(key: string): Promise<unknown>;
  /** The words for a deletion that somebody has answered since. */
  answered: string;
}

/** A new request with what it takes over from earlier ones, and the keys of those that it replaces. */
export function joined(
  before: readonly KeptRequest[],
  next: KeptRequest,
): { made: KeptRequest; replaced: string[] } {
  if (next.kind === "delete") {
    const gone = before.filter((one) => one.id === next.id || one.parent === next.id);
    return { made: next, replaced: gone.map((one) => one.key) };
  }
  const same = before.filter(
    (one) => one.kind === next.kind && one.id === next.id && one.key !== next.key,
  );
  if (!next.bases) return { made: next, replaced: same.map((one) => one.key) };
  const bases = [...new Set([...same.flatMap((one) => one.bases ?? []), ...next.bases])];
  const made = { ...next, bases: bases.slice(-MOST_BASES) };
  return { made, replaced: same.map((one) => one.key) };
}

/** Those that are sent again by themselves, those that a person decides about, and those that are too old. */
export function sorted(found: readonly KeptRequest[], since: number) {
  const isWaiting = (one: KeptRequest): boolean => one.doubt === WAITING;
  const isYoung = (one: KeptRequest): boolean => one.at >= since || isWaiting(one);
  return {
    // Later the server might not know any more what was deleted.
    young: found.filter(isYoung),
    doubtful: found.filter((one) => one.doubt && !isWaiting(one)),
    old: found.filter((one) => !one.doubt && !isYoung(one)),
  };
}

/** Threads come before the answers to them, and comments before their changes. */
const rank = ({ kind, parent }: KeptRequest): number => 2 * ORDER.indexOf(kind) + (parent ? 1 : 0);

/** Sends again what the server does not know; true if something has changed. Throws if it is not reached. */
export async function repeat(
  given: readonly KeptRequest[],
  outside: Repeating,
  now = Date.now(),
): Promise<boolean> {
  const known = new Set<string>();
  for (let at = 0; at < given.length; at += MOST_KEYS) {
    const keys = given.slice(at, at + MOST_KEYS).map((one) => one.key);
    for (const key of await outside.known(keys)) known.add(key);
  }
  let isChanged = false;
  // A page comes before those below it.
  for (const one of [...given].sort((a, b) => rank(a) - rank(b) || a.at - b.at)) {
    if (known.has(one.key)) {
      // It was in doubt, and another tab or an earlier answer has decided that.
      if (one.doubt) await outside.keep({ ...one, doubt: "" });
      isChanged ||= one.doubt !== "";
      continue;
    }
    await again(one, outside, now);
    isChanged = true;
  }
  return isChanged;
}

async function again(one: KeptRequest, outside: Repeating, now: number): Promise<void> {
  try {
    if (one.kind === "delete") {
      const gone = new Set(one.answers);
      if ((await outside.answers(one)).some((id) => !gone.has(id))) {
        await outside.keep({ ...one, doubt: outside.answered });
        return;
      }
    }
    await outside.send(one);
    await outside.keep({ ...one, at: now, doubt: "" });
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error.status)) throw error;
    // What was to be deleted is gone, or its page is. Words that were never sent are their person's to decide.
    const isUnsent = one.doubt === WAITING && ["post", "edit"].includes(one.kind);
    const isGone = error.status === 410 && !isUnsent;
    const isOver = isGone || (one.kind === "delete" && error.status === 404);
    if (isOver) await outside.forget(one.key);
    else await outside.keep({ ...one, doubt: error.message });
  }
}

/** True for an answer that tells nothing of the request: it is asked again later. */
const isPassing = (status: number): boolean => status >= 500 || [401, 408, 429].includes(status);
