/** The comments of the page that is shown, and the panel beside it, as far as the first page has to know. */
import { signal } from "@preact/signals";
import type { Comment } from "../api/types";

/** The page's comments as the server has told them; absent until they are read. */
export const comments = signal<{ page: string; list: Comment[] }>();
/**
 * The panel beside a page; undefined while it is closed. `turn` counts the requests to open it, each of which
 * looks at the selection of the text.
 */
export const panel = signal<{ page: string; turn: number }>();
/** Counts what the server has told of comments, by page; of all pages under "". */
export const told = signal<{ page: string; turn: number }>({ page: "", turn: 0 });

/** True once there was something lost that a person has to decide about. */
export const hasLost = signal(false);

let turn = 0;

export function openPanel(page: string): void {
  turn += 1;
  panel.value = { page, turn };
}

export function closePanel(): void {
  panel.value = undefined;
}

/** The comments of a page have changed, or with "" those of any page. */
export function hearOfComments(page: string): void {
  turn += 1;
  told.value = { page, turn };
}

/** The number of threads of a page that are not resolved. */
export const openThreads = (page: string): number =>
  comments.value?.page === page
    ? comments.value.list.filter((one) => !one.parent_id && !one.resolved_at).length
    : 0;
