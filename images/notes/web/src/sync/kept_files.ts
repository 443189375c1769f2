/**
 * Files on their way to the server, stored in this browser: after a reload their upload goes on.
 *
 * Invariant: only the user who gave a file gets it back. It is deleted a day after it came into the text, or when a
 * person gives it up. A record without its file (the browser had no room) tells which file to ask for.
 */
import { isAnother } from "../api/signed_in";
import { beginWriting, database, session, writeFor } from "./database";
import type { KeptUpload } from "./stored";
import { noteUnsent } from "./unsent_count";

export function keepUpload(kept: KeptUpload): Promise<boolean> {
  noteUnsent();
  return writeFor(kept.user, (work) => work.objectStore("uploads").put(kept));
}

/** Stores the bytes; in a transaction of its own, for edits must not wait for it. */
export async function keepFile(
  { id, user }: { id: string; user: string },
  file: File,
): Promise<boolean> {
  const db = await database();
  const found = await session();
  if (!db || !found?.isActive || found.me.id !== user || isAnother(user)) return false;
  return db.put("files", { id, user, file }).then(
    () => true,
    () => false,
  );
}

export async function keptUploads(user: string): Promise<KeptUpload[]> {
  const found = (await (await database())?.getAll("uploads")) ?? [];
  return found.filter((one) => one.user === user);
}

/** An upload as it is stored now; undefined if it has ended. */
export async function keptUpload(id: string): Promise<KeptUpload | undefined> {
  return (await database())?.get("uploads", id);
}

export async function keptFile({
  id,
  user,
}: {
  id: string;
  user: string;
}): Promise<File | undefined> {
  const found = await (await database())?.get("files", id).catch(() => undefined);
  return found?.user === user ? found.file : undefined;
}

export async function forgetUpload(id: string): Promise<void> {
  const work = await beginWriting("uploads", "files");
  await work?.objectStore("uploads").delete(id);
  await work?.objectStore("files").delete(id);
  await work?.done;
  noteUnsent();
}
