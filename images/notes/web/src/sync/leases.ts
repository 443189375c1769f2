/**
 * Which tab works at a draft or an upload: one at a time.
 *
 * By the browser's locks; where it has none (a page over plain HTTP), by leases in the store, which a tab renews.
 * Invariant: a lease is given and renewed in one transaction, so two tabs never hold it at the same time.
 */
import { database } from "./database";

export interface Lease {
  name: string;
  holder: string;
  /** Milliseconds since 1970. */
  until: number;
}

/** Timers of hidden tabs fire once a minute at worst. */
export const LEASE_MS = 150_000;
const RENEWAL_MS = 20_000;

const holder = String(crypto.getRandomValues(new Uint32Array(2)).join("-"));
const held = new Set<string>();
let renewing: ReturnType<typeof setInterval> | undefined;

/** Takes a draft or an upload for this tab until the returned function is called; undefined if another has it. */
export function take(client: string): Promise<(() => void) | undefined> {
  const name = `notes-draft-${client}`;
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

async function lease(name: string): Promise<(() => void) | undefined> {
  // The same tab, too, works at a draft once.
  if (held.has(name) || !(await give(name))) return undefined;
  held.add(name);
  renewing ??= setInterval(renew, RENEWAL_MS);
  return () => {
    held.delete(name);
    void giveBack(name).catch(() => undefined);
  };
}

/** Gives the lease to this tab, or makes it longer; false if another one has it. */
async function give(name: string): Promise<boolean> {
  const work = (await database())?.transaction("leases", "readwrite");
  // Without a store there is nothing to share.
  if (!work) return true;
  const found = await work.store.get(name);
  const isFree = !found || found.holder === holder || found.until < Date.now();
  if (isFree) await work.store.put({ name, holder, until: Date.now() + LEASE_MS });
  await work.done;
  return isFree;
}

async function giveBack(name: string): Promise<void> {
  const work = (await database())?.transaction("leases", "readwrite");
  const found = await work?.store.get(name);
  if (found?.holder === holder) await work?.store.delete(name);
  await work?.done;
}

function renew(): void {
  for (const name of held) void give(name).catch(() => undefined);
}

// A tab that is closed leaves its work to the others at once; one that dies, when its leases end.
globalThis.addEventListener?.("pagehide", () => {
  for (const name of held) void giveBack(name).catch(() => undefined);
});
globalThis.addEventListener?.("pageshow", (event) => {
  if ((event as PageTransitionEvent).persisted && held.size) location.reload();
});
