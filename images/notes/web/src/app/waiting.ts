/** Which pages wait for the server to make them, as far as an editor has to know (`made.ts`). */
import { computed, signal } from "@preact/signals";
import type { LiveView, PageNode } from "../api/types";
import type { Doc } from "../doc/types";
import type { KeptRequest, MadePage } from "../sync/stored";
import { me } from "./store";

/** A request for a page, with the page as its person sees it. */
export type Made = KeptRequest & { node: PageNode; made: MadePage };

/** As the server makes an empty page: what is typed fits its document. */
export const EMPTY: Doc = { type: "doc", content: [{ type: "paragraph" }] };
const NOBODY = "00000000-0000-0000-0000-000000000000";

/** The pages that wait, of whomever. */
export const found = signal<readonly Made[]>([]);
/** The pages of the user that the server has not made, or has refused, by their ids. */
export const waiting = computed(
  () => new Map(found.value.filter((one) => one.user === me.value?.id).map((one) => [one.id, one])),
);

export const isWaiting = (page: string): boolean => waiting.value.has(page);

/** What the editor of a page begins from that the server does not have. */
export function firstView(page: string): LiveView | undefined {
  const one = waiting.value.get(page);
  return one && { seq: 0, id: NOBODY, version: 0, title: one.title, doc: one.made.doc ?? EMPTY };
}

interface Making {
  /** Stores soon what is written at a page that waits. */
  note: (page: string, view: () => LiveView | undefined) => void;
  /** Reads which pages wait. */
  show: () => Promise<void>;
  /** Sends the texts of pages that were made again. */
  send: () => Promise<void>;
}

/** What `made.ts` does for those that it knows; pages wait only where it is there. */
export const making: Making = {
  note: () => undefined,
  show: async () => undefined,
  send: async () => undefined,
};

/** Stores soon what is written at a page that waits, for its readers; the editor stores its own. */
export function noteText(page: string, view: () => LiveView | undefined): void {
  if (isWaiting(page)) making.note(page, view);
}
