/** The page that is being edited, as far as the parts around the editor have to know. */
import { signal } from "@preact/signals";
import type { Caret, CaretOf } from "../api/types";

/** The id of the page whose editor is open; empty while pages are read. */
export const editing = signal("");
/** How far the open page's edits have come; empty without any. */
export const saving = signal<{ page: string; state: "saved" | "saving" | "kept" | "refused" }>();

/** The pages with doubtful places: written by this person, and changed by somebody else meanwhile. */
export const doubted = signal<ReadonlySet<string>>(new Set());

/** Hears of a page instead of its reader; set while its editor has edits to follow. */
export interface Follower {
  page: string;
  /** The number of the edit that it is at. */
  seq(): number;
  /** Hears that the page is at an edit; `asked` is where the follower was when the server was asked for it. */
  hear(seq: number, id: string, asked?: number): void;
  /** The caret that others are told of; undefined after "Done". */
  caret(): Caret | undefined;
  /** Hears where the carets of others are. */
  meet(carets: readonly CaretOf[]): void;
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

let onUnsent = async (): Promise<void> => undefined;
/** Sets what sends the edits that the server has not: it has lost them, or nobody was signed in. */
export const whenUnsent = (act: () => Promise<void>): void => {
  onUnsent = act;
};
export const sendUnsent = (): Promise<void> => onUnsent();
