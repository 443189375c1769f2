/** Moves pages and brings them into the trash: shown in the tree at once, taken back with the reason of a refusal. */
import { ApiError, request } from "../../api/client";
import { isCurrent } from "../../api/signed_in";
import type { PageNode } from "../../api/types";
import { change } from "../../app/change_tree";
import { prefer, preferences } from "../../app/preferences";
import { go } from "../../app/router";
import { trashPath } from "../../app/routes";
import { notice, spaces, trees } from "../../app/store";
import { within } from "../../app/tree_changes";
import { words } from "../../app/words";
import { refusal } from "./refusal";
import { beside, ready } from "./words";

/** A new place: below a page (null: at the top of the space), behind another one (null: first). */
export interface Place {
  space: string;
  parent: string | null;
  after: string | null;
}

let refused = "";

/** Says that something is done; a refusal of the moment before stays to be read. */
function say(text: string): void {
  notice.value = refused && notice.value === refused ? `${refused} ${text}` : text;
}

function sayRefused(text: string): void {
  refused = notice.value = text;
}

/** Moves a page from a space to a place; false if the server refuses, of which it has told then. */
export async function movePage(id: string, from: string, place: Place): Promise<boolean> {
  const { space: to, parent, after } = place;
  const isSame = isCurrent();
  const nodes = trees.value.get(from)?.nodes ?? [];
  const ids = within(nodes, id);
  const pages = nodes.filter((node) => ids.has(node.id));
  const title = trees.value.get(from)?.byId.get(id)?.title ?? "";
  const above = parent && trees.value.get(to)?.byId.get(parent)?.title;
  if (parent !== null) prefer({ open: [...new Set([...preferences.value.open, parent])] });
  const body = { space_id: to, parent_id: parent, after_id: after };
  try {
    await change({ kind: "move", id, from, to, parent, after, pages }, [from, to], () =>
      request<void>("POST", `/api/v1/nodes/${id}/move`, { body }),
    );
  } catch (error) {
    await ready();
    const isGone = error instanceof ApiError && [404, 410].includes(error.status);
    const why = isGone ? beside.value.placeGone : refusal(error);
    if (isSame() && why) sayRefused(beside.value.notMoved(title, why));
    return false;
  }
  await ready();
  const name = spaces.value.find((one) => one.id === to)?.name ?? "";
  if (isSame()) say(beside.value.moved(title, above ?? beside.value.top(name)));
  return true;
}

/** Moves a page to the trash, and opens the trash of its space: it can be taken back. */
export async function trashPage({ id, title, space_id: space }: PageNode): Promise<void> {
  const isSame = isCurrent();
  try {
    await change({ kind: "trash", space, id }, [space], () =>
      request<void>("DELETE", `/api/v1/nodes/${id}`),
    );
    if (!isSame()) return;
    say(words.value.movedToTrash(title));
    go(trashPath(space));
  } catch (error) {
    await ready();
    const why = refusal(error);
    if (isSame() && why) sayRefused(beside.value.notTrashed(title, why));
  }
}
