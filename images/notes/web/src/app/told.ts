/** The count of unread notifications, as far as the first page has to know. */
import { signal } from "@preact/signals";
import { load } from "../api/signed_in";

/** The server counts to `MOST_COUNTED`. */
export const unread = signal(0);
export const MOST_COUNTED = 100;
/** Counts what the server has told of notifications. */
export const heard = signal(0);

/** Reads the count; a server of an older version has none. */
export async function readUnread(): Promise<void> {
  const show = (found: { unread: number }): void => {
    unread.value = found.unread;
    heard.value += 1;
  };
  await load("/api/v1/notifications/unread", show).catch(() => undefined);
}
