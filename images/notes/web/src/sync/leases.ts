/**
 * Which tab works at a draft or an upload: one at a time.
 *
 * By the browser's locks; where it has none (a page over plain HTTP), by leases in the store. Invariant: a lease is
 * given in one transaction; another tab gets it only when it is not renewed and its holder does not answer.
 */
import { beginWriting } from "./database";

const LEASE_MS = 20_000;
const RENEWAL_MS = 8000;
/** The timers of a hidden tab may fire once a minute only, but it answers. */
const ANSWER_MS = 1500;

const holder = String(crypto.getRandomValues(new Uint32Array(2)).join("-"));
const held = new Set<string>();
/** What this tab asks for; it does not have it yet. */
const asking = new Set<string>();
let renewing: ReturnType<typeof setInterval> | undefined;
let channel: BroadcastChannel | undefined;

/** What is being stored of the drafts of this tab. */
const storing = new Map<string, Promise<unknown>>();

/** Stores a part of a draft: until that is done, and what waits for it, the draft is not given to others. */
export async function whileHeld<T>(client: string, work: Promise<T>): Promise<T> {
  storing.set(client, work);
  try {
    return await work;
  } finally {
    if (storing.get(client) === work) storing.delete(client);
  }
}

async function whenStored(client: string): Promise<void> {
  for (let work = storing.get(client); work; work = storing.get(client)) {
    await work.catch(() => undefined);
    // What has waited for this write begins at once.
    await new Promise((done) => setTimeout(done));
  }
}

/** Takes a draft or an upload for this tab until the returned function is called; undefined if another has it. */
export async function take(client: string): Promise<(() => void) | undefined> {
  const release = await takeName(`notes-draft-${client}`);
  // A session that has ended may still have something to store: who reads the draft then has that, too.
  return (
    release && (() => (storing.has(client) ? void whenStored(client).then(release) : release()))
  );
}

function takeName(name: string): Promise<(() => void) | undefined> {
  if (!navigator.locks) return lease(name);
  return new Promise((taken) => {
    void navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      if (!lock) {
        taken(undefined);
        return undefined;
      }
      return new Promise<void>((release) => taken(() => release()));
    });
  });
}

/**
 * Takes a draft or an upload and reads it then: what was read before may have been sent by the tab that had it.
 *
 * Undefined if another tab has it, or `read` finds nothing; then, and if `read` fails, it is given back.
 */
export async function takeStored<T>(
  client: string,
  read: () => Promise<T | undefined>,
  taking = take,
): Promise<{ found: T; release: () => void } | undefined> {
  const release = await taking(client);
  if (!release) return undefined;
  let found: T | undefined;
  try {
    found = await read();
  } finally {
    if (found === undefined) release();
  }
  return found === undefined ? undefined : { found, release };
}

async function lease(name: string): Promise<(() => void) | undefined> {
  // The same tab, too, works at a draft once.
  if (held.has(name) || asking.has(name)) return undefined;
  asking.add(name);
  begin();
  try {
    const other = await give(name);
    // Of two who ask, one finds the other's lease in the end.
    if (other && (!other.isOver || (await answers(name)) || (await give(name, other.holder)))) {
      return undefined;
    }
    held.add(name);
  } finally {
    asking.delete(name);
  }
  return () => {
    held.delete(name);
    void giveBack(name).catch(() => undefined);
  };
}

/** Gives the lease to this tab, or makes it longer; returns the one of another tab, unless that is `former`. */
async function give(
  name: string,
  former = "",
): Promise<{ holder: string; isOver: boolean } | undefined> {
  const work = await beginWriting("leases");
  // Without a store there is nothing to share.
  if (!work) return undefined;
  const leases = work.objectStore("leases");
  const found = await leases.get(name);
  const isOther = found && ![holder, former].includes(found.holder);
  if (!isOther) await leases.put({ name, holder, until: Date.now() + LEASE_MS });
  await work.done;
  return isOther ? { holder: found.holder, isOver: found.until < Date.now() } : undefined;
}

/** True if another tab says that it works at it. */
function answers(name: string): Promise<boolean> {
  const question = new BroadcastChannel("notes-leases");
  return new Promise((done) => {
    const end = (isHeld: boolean): void => {
      clearTimeout(timer);
      question.close();
      done(isHeld);
    };
    const timer = setTimeout(() => end(false), ANSWER_MS);
    question.onmessage = (message: MessageEvent<{ held?: string }>) => {
      if (message.data.held === name) end(true);
    };
    question.postMessage({ asked: name, by: holder });
  });
}

/** Renews the leases of this tab, and answers those who ask for them. */
function begin(): void {
  renewing ??= setInterval(() => {
    for (const name of held) void give(name).catch(() => undefined);
  }, RENEWAL_MS);
  if (channel) return;
  channel = new BroadcastChannel("notes-leases");
  channel.onmessage = (message: MessageEvent<{ asked?: string; by?: string }>) => {
    const { asked, by } = message.data;
    if (asked && by !== holder && held.has(asked)) channel?.postMessage({ held: asked });
  };
}

async function giveBack(name: string): Promise<void> {
  const work = await beginWriting("leases");
  const leases = work?.objectStore("leases");
  if ((await leases?.get(name))?.holder === holder) await leases?.delete(name);
  await work?.done;
}

// A tab that is closed leaves its work to the others at once; one that dies, when its leases end.
globalThis.addEventListener?.("pagehide", () => {
  for (const name of held) void giveBack(name).catch(() => undefined);
});
globalThis.addEventListener?.("pageshow", (event) => {
  if ((event as PageTransitionEvent).persisted && held.size) location.reload();
});
