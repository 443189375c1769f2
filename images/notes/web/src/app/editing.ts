/** The page that is being edited, as far as the parts around the editor have to know. */
import { signal } from "@preact/signals";

/** The id of the page whose editor is open; empty while pages are read. */
export const editing = signal("");
/** How far the open page's edits have come; empty without any. */
export const saving = signal<{ page: string; state: "saved" | "saving" | "kept" | "refused" }>();

/** Hears that a page is at an edit, instead of the reader; set while its editor has edits to follow. */
export interface Follower {
  page: string;
  hear(seq: number, id: string): void;
}
let follower: Follower | undefined;
export const followWith = (next: Follower): void => {
  follower = next;
};
/** Ends the following of a page. */
export function followNoMore(page: string): void {
  if (follower?.page === page) follower = undefined;
}
export const followerOf = (page: string): Follower | undefined =>
  follower?.page === page ? follower : undefined;
