/** Shows the titles that editors give their pages in the page tree, before the server has a version with them. */
import { effect, type Signal, untracked } from "@preact/signals";
import { showTitle } from "../app/change_tree";
import type { Session } from "./session";

/** The pages that were given another title here. */
const renamed = new Set<string>();
let isFollowing = false;

/** Follows the sessions of this tab from now on; `changes` counts their changes. */
export function showTitles(sessions: ReadonlyMap<string, Session>, changes: Signal<number>): void {
  if (isFollowing) return;
  isFollowing = true;
  effect(() => {
    changes.value;
    untracked(() => {
      for (const session of sessions.values()) show(session);
    });
  });
}

/** What is refused, or lost with its page, the editor tells of: the tree does not show it. */
function show({ page, title, hasNewTitle, saving, lost }: Session): void {
  if (hasNewTitle) renamed.add(page);
  if (!renamed.has(page)) return;
  const isShown = !lost && !(hasNewTitle && saving === "refused");
  showTitle(page, isShown ? title : undefined, !hasNewTitle);
}
