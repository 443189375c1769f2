/**
 * The store of this browser for offline reading (IndexedDB).
 *
 * Invariant: each stored page, tree and picture names its user, and only the user who is signed in,
 * or was when the network went away, is shown them. Nothing is stored for a user who has signed out, but for what they
 * had typed before, where the rest stays, too: hidden until they sign in again.
 */
import {
  type DBSchema,
  type IDBPDatabase,
  type IDBPTransaction,
  openDB,
  type StoreNames,
} from "idb";
import { isAnother } from "../api/signed_in";
import type { Me } from "../api/types";
import type {
  Base,
  KeptFile,
  KeptRequest,
  KeptUpload,
  Lease,
  Remembered,
  StoredDoubt,
  StoredDraft,
  StoredEdit,
  StoredPage,
  StoredPicture,
  StoredTree,
  StoredValue,
} from "./stored";

interface Schema extends DBSchema {
  pages: { key: string; value: StoredPage; indexes: { space_id: string; readAt: number } };
  trees: { key: string; value: StoredTree };
  pictures: { key: string; value: StoredPicture; indexes: { page_id: string } };
  values: { key: string; value: StoredValue };
  drafts: { key: string; value: StoredDraft };
  bases: { key: [string, string]; value: Base };
  remembered: { key: string; value: Remembered };
  accepted: { key: [string, number]; value: StoredEdit };
  doubts: { key: string; value: StoredDoubt };
  leases: { key: string; value: Lease };
  uploads: { key: string; value: KeptUpload };
  files: { key: string; value: KeptFile };
  requests: { key: string; value: KeptRequest };
}

export type Database = IDBPDatabase<Schema>;

let opening: Promise<Database | undefined> | undefined;

/** Opens the store; undefined where the browser has none (some private windows). */
export function database(): Promise<Database | undefined> {
  opening ??= openDB<Schema>("notes", 6, {
    upgrade(db, before) {
      db.createObjectStore("requests", { keyPath: "key" });
      if (before < 5) db.createObjectStore("bases", { keyPath: ["client", "base"] });
      if (before < 4) {
        db.createObjectStore("remembered", { keyPath: "client" });
        db.createObjectStore("accepted", { keyPath: ["client", "seq"] });
        db.createObjectStore("doubts", { keyPath: "id" });
        db.createObjectStore("leases", { keyPath: "name" });
      }
      if (before < 3) {
        db.createObjectStore("uploads", { keyPath: "id" });
        db.createObjectStore("files", { keyPath: "id" });
      }
      if (before < 2) db.createObjectStore("drafts", { keyPath: "client" });
      if (before > 0) return;
      const pages = db.createObjectStore("pages", { keyPath: "id" });
      pages.createIndex("space_id", "space_id");
      pages.createIndex("readAt", "readAt");
      db.createObjectStore("trees", { keyPath: "space_id" });
      db.createObjectStore("pictures", { keyPath: "id" }).createIndex("page_id", "page_id");
      db.createObjectStore("values", { keyPath: "name" });
    },
    blocking(_current, _blocked, event) {
      // Another tab has a newer version of the application. This one could send on, and store nothing of that: who
      // continued its draft would send again what was accepted since.
      (event.target as IDBDatabase).close();
      opening = undefined;
      globalThis.location?.reload?.();
    },
    terminated() {
      opening = undefined;
    },
  }).catch(() => undefined);
  return opening;
}

/**
 * Begins a transaction that writes; undefined without a store.
 *
 * Its `done` fails as well where a request of it has failed, which its caller hears of first: as
 * when the tab goes to another address meanwhile.
 */
export async function beginWriting<Names extends StoreNames<Schema>[]>(
  ...names: Names
): Promise<IDBPTransaction<Schema, Names, "readwrite"> | undefined> {
  const work = (await database())?.transaction(names, "readwrite");
  work?.done.catch(() => undefined);
  return work;
}

export interface Session {
  me: Me;
  /** False after a sign-out: what is stored stays hidden until the same user signs in again. */
  isActive: boolean;
}

/** A stored value of the user; undefined if there is none, or it is of another user. */
export async function value<T>(name: string, user: string): Promise<T | undefined> {
  const found = await (await database())?.get("values", name);
  return found?.user === user ? (found.value as T) : undefined;
}

const WRITTEN = [
  ...["pages", "trees", "pictures", "values", "drafts", "uploads"],
  ...["remembered", "accepted", "doubts", "bases", "requests"],
] as ("pages" | "trees" | "pictures" | "values" | Unsent)[];
type Unsent = "drafts" | "uploads" | "remembered" | "accepted" | "doubts" | "bases" | "requests";
export type Writing = IDBPTransaction<Schema, typeof WRITTEN, "readwrite">;

/**
 * Writes in one transaction, and only if the user is still signed in: false if not.
 *
 * What was read before a sign-out may arrive after it, in this tab or in another one. With `mayBeHidden` it is written
 * also while what is stored for the user is hidden; not after it was cleared, or somebody else has signed in.
 */
export async function writeFor(
  user: string,
  act: (work: Writing) => Promise<unknown>,
  mayBeHidden = false,
): Promise<boolean> {
  const work = await beginWriting(...WRITTEN);
  if (!work || isAnother(user)) return false;
  const found = (await work.objectStore("values").get("session"))?.value as Session | undefined;
  const isStill = found?.me.id === user && (found.isActive || mayBeHidden);
  try {
    if (isStill) await act(work);
  } catch (error) {
    // Of a transaction that has ended for want of room, its requests say only that it has ended.
    throw work.error ?? error;
  }
  await work.done;
  return isStill;
}

export async function keepValue(name: string, user: string, kept: unknown): Promise<void> {
  await writeFor(user, (work) => work.objectStore("values").put({ name, user, value: kept }));
}

export async function session(): Promise<Session | undefined> {
  return (await (await database())?.get("values", "session"))?.value as Session | undefined;
}

/** Hides what is stored for a user until they sign in again. */
export async function endSession(user: string): Promise<void> {
  const work = await beginWriting("values");
  if (!work) return;
  const values = work.objectStore("values");
  const found = (await values.get("session"))?.value as Session | undefined;
  // In another tab somebody else may have signed in meanwhile.
  if (found?.me.id === user) {
    await values.put({ name: "session", user, value: { ...found, isActive: false } });
  }
  await work.done;
}

export async function keepSession(kept: Session): Promise<void> {
  const stored = { name: "session", user: kept.me.id, value: kept };
  await (await database())?.put("values", stored);
}

/** Removes what is stored, except for unsent edits, files and doubtful places: their user gets them. */
export async function clear(): Promise<void> {
  const names = ["pages", "trees", "pictures", "values", "remembered", "accepted"] as const;
  const more = ["drafts", "bases", "requests", "files"] as const;
  const work = await beginWriting(...names, ...more);
  if (!work) return;
  await Promise.all(names.map((name) => work.objectStore(name).clear()));
  const unsent = new Set(await work.objectStore("drafts").getAllKeys());
  const bases = work.objectStore("bases");
  for (const key of await bases.getAllKeys()) if (!unsent.has(key[0])) await bases.delete(key);
  for (const { key, doubt } of await work.objectStore("requests").getAll()) {
    if (doubt) continue;
    await work.objectStore("requests").delete(key);
    await work.objectStore("files").delete(key);
  }
  await work.done;
}
