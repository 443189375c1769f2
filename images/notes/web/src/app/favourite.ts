/**
 * Adds pages to the favourites and removes them, also without a network: then it is stored here, and sent with its
 * return, the last word of each page alone.
 */
import { ApiError, request, UnreachableError } from "../api/client";
import { isCurrent } from "../api/signed_in";
import { keepValue, writeFor } from "../sync/database";
import { noteUnsent } from "../sync/drafts";
import { forgetRequest, keepRequest, keptRequests } from "../sync/kept_requests";
import { storedPage } from "../sync/offline";
import { WAITING } from "../sync/repeats";
import type { KeptRequest } from "../sync/stored";
import { isWaiting } from "./waiting";
import { makeId } from "./presence";
import { favourites, notice, type Opened, opened, readLists, userId } from "./store";

/** Adds the open page to the favourites or removes it; takes it back if the server refuses. */
export async function toggle(before: Opened): Promise<void> {
  const { node } = before;
  if (!node) return;
  const isSame = isCurrent();
  const user = userId();
  const wanted = !node.is_favourite;
  opened.value = { ...before, node: { ...node, is_favourite: wanted } };
  const earlier = (await keptRequests(user)).filter(
    (one) => one.kind === "favourite" && one.id === node.id,
  );
  try {
    if (isWaiting(node.id)) throw new UnreachableError(node.id);
    await sendFavourite(node.id, wanted);
    for (const one of earlier) await forgetRequest(one.key);
    await noteStored(node.id, user, wanted).catch(() => undefined);
    await readLists();
  } catch (error) {
    if (!isSame()) return;
    const isKept =
      error instanceof UnreachableError &&
      (await keep(before, wanted, user, earlier).catch(() => false));
    if (isKept) return;
    if (opened.value?.id === before.id) opened.value = before;
    notice.value = error instanceof Error ? error.message : String(error);
  }
}

export const sendFavourite = (page: string, wanted: boolean): Promise<void> =>
  request<void>(wanted ? "PUT" : "DELETE", `/api/v1/nodes/${page}/favourite`);

/** Stores what is wanted, and shows it in the list; false if this browser cannot. */
async function keep(
  { node }: Opened,
  wanted: boolean,
  user: string,
  earlier: readonly KeptRequest[],
): Promise<boolean> {
  if (!node) return false;
  const { id, title, space_id, updated_at } = node;
  const one: KeptRequest = {
    ...{ key: makeId(), user, page: id, id, title, at: Date.now(), kind: "favourite" },
    ...{ resolved: wanted, doubt: WAITING },
  };
  const replaced = earlier.map((other) => other.key);
  if (!(await keepRequest(one, replaced))) return false;
  noteUnsent();
  const others = favourites.value.filter((other) => other.id !== id);
  favourites.value = wanted ? [...others, { id, space_id, title, updated_at }] : others;
  await keepValue("favourites", user, favourites.value);
  await noteStored(id, user, wanted);
  return true;
}

/** The stored copy of the page says it, too: without a network it is what is shown. */
async function noteStored(id: string, user: string, wanted: boolean): Promise<void> {
  const stored = await storedPage(id, user);
  if (!stored) return;
  const changed = { ...stored, node: { ...stored.node, is_favourite: wanted } };
  await writeFor(user, (work) => work.objectStore("pages").put(changed));
}

/** Sends what is wanted of a page; what the server refuses is over: the page is gone, or not to be seen any more. */
export async function sendKept({ id, resolved }: KeptRequest): Promise<void> {
  try {
    await sendFavourite(id, resolved === true);
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 404, 410, 422].includes(error.status)) throw error;
    return;
  }
  // The page may have been read again before: its star would show what was there without this.
  const now = opened.value;
  if (now?.id === id && now.node)
    opened.value = { ...now, node: { ...now.node, is_favourite: resolved === true } };
}
