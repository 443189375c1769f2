/**
 * Files that wait for a page which is gone, or takes them no more: kept in this browser until their person deletes them.
 *
 * Invariant: one is listed only while the server refuses it. If the page takes it again, it is uploaded with the next
 * start of the workspace.
 */
import { signal } from "@preact/signals";
import { ApiError } from "../../api/client";
import { isCurrent, load } from "../../api/signed_in";
import { mayWrite, type PageNode } from "../../api/types";
import { hasLost } from "../../app/comments";
import { editing } from "../../app/editing";
import { saveOnDevice } from "../../app/save_file";
import { userId } from "../../app/store";
import { isWaiting } from "../../app/waiting";
import { ending } from "../../editor/given_up";
import { forgetUpload, keptFile, keptUploads } from "../../sync/kept_files";
import type { KeptUpload } from "../../sync/stored";
import { lostWords, ready } from "./words";

export interface LostFile extends KeptUpload {
  /** Why its page does not take it. */
  reason: string;
}

export const files = signal<readonly LostFile[]>([]);
const others = new BroadcastChannel("notes-lost-files");
others.onmessage = (message: MessageEvent<string>) => void left(message.data);

/** Why a page takes no files of the user; empty if it does, undefined if the server is not reached. */
async function reasonOf(page: string): Promise<string | undefined> {
  // A page that the server has not made yet is none that is gone.
  if (isWaiting(page)) return "";
  try {
    const { trashed_at, role } = await load<PageNode>(`/api/v1/nodes/${page}`, () => undefined);
    return trashed_at || !mayWrite(role) ? lostWords.value.takesNone : "";
  } catch (error) {
    if (!(error instanceof ApiError)) return undefined;
    return [403, 404].includes(error.status) ? error.message : "";
  }
}

/** Lists the files of the user whose pages do not take them. */
export async function showFiles(): Promise<void> {
  const isSame = isCurrent();
  const kept = await keptUploads(userId());
  if (kept.length) await ready();
  const reasons = new Map<string, string>();
  for (const { page } of kept) {
    if (reasons.has(page)) continue;
    const before = files.value.find((one) => one.page === page)?.reason ?? "";
    reasons.set(page, (await reasonOf(page).catch(() => undefined)) ?? before);
  }
  if (!isSame()) return;
  const made = kept.map((one) => ({ ...one, reason: reasons.get(one.page) ?? "" }));
  files.value = made.filter((one) => one.reason);
  if (files.value.length) hasLost.value = true;
}

/** The file itself. Throws if this browser had no room for it. */
export async function keptBytes(one: KeptUpload): Promise<File> {
  const found = await keptFile(one);
  if (!found) throw new Error(lostWords.value.noBytes(one.name));
  return found;
}

/** Saves a file on the device. */
export async function saveFile(one: KeptUpload): Promise<void> {
  saveOnDevice(await keptBytes(one), one.name);
}

/** Deletes files from this browser. */
export async function removeFiles(gone: readonly KeptUpload[]): Promise<void> {
  for (const { page } of gone) end(page);
  for (const { id } of gone) await forgetUpload(id);
  for (const page of new Set(gone.map((one) => one.page))) others.postMessage(page);
  await showFiles();
}

/** Files of a page are not here any more: a session in the background would store them again. */
async function left(page: string): Promise<void> {
  end(page);
  await showFiles();
}

/** Where the page is open in an editor, that has the files, and what becomes of them. */
function end(page: string): void {
  if (editing.value !== page) ending.page(page);
}
