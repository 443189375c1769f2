/**
 * What is left of a log after a failover of the database that lost edits: the way back to an edit that the
 * server still has, and what it has made of the page since.
 */
import { Step } from "prosemirror-transform";
import { ApiError } from "../api/client";
import type { Edit, Edits } from "../api/types";
import type { Accepted } from "./past";
import { schema } from "./schema";
import type { Undone } from "./unsent";

export interface Place {
  seq: number;
  id: string;
}

/** The place before the edits with the number `at + 1` and above. */
export const placeAt = (edits: readonly Accepted[], at: number): Place =>
  (at >= 0 ? edits[at] : edits[0]?.before) as Place;

export interface Known {
  /** The number of the remembered edit that the server has; -1 for the place before all of them. */
  at: number;
  /** The server's edits since. */
  since: Edit[];
}

/** Finds a remembered edit that the server still has, from the last one back; undefined if there is none. */
export async function lastKnown(
  edits: readonly Accepted[],
  read: (place: Place) => Promise<Edits>,
): Promise<Known | undefined> {
  if (!edits.length) return undefined;
  for (let back = 1, at = edits.length - 1; ; back *= 2) {
    at = Math.max(-1, at - back);
    const found = await listed(placeAt(edits, at), read);
    if (found) {
      // The steps back get longer: it may have gone behind edits that the server still has.
      let more = 0;
      while (found[more] && found[more]?.id === edits[at + 1 + more]?.id) more += 1;
      return { at: at + more, since: found.slice(more) };
    }
    if (at < 0) return undefined;
  }
}

/** All edits after a place; undefined if the place is not in the log. */
async function listed(
  place: Place,
  read: (place: Place) => Promise<Edits>,
): Promise<Edit[] | undefined> {
  const made: Edit[] = [];
  for (let from = place; ; ) {
    let found: Edits;
    try {
      found = await read(from);
    } catch (error) {
      if (error instanceof ApiError && error.status === 410) return undefined;
      throw error;
    }
    if (!found.is_known) return undefined;
    made.push(...found.edits);
    const last = found.edits.at(-1);
    if (!last || last.seq >= found.seq) return made;
    from = last;
  }
}

/** The steps to take back; those of own edits that the server does not have are to be sent again. */
export function undone(lost: readonly Accepted[], since: readonly Edit[]): Undone[] {
  const there = new Set(since.map((edit) => edit.id));
  return lost.flatMap(({ id, isOwn, steps }) =>
    steps.map((one) => ({ ...one, isOwn: isOwn && !there.has(id) })),
  );
}

/** The title that has to be sent again; null if there is none, or somebody has sent the last one again. */
export function lostTitle(lost: readonly Accepted[], since: readonly Edit[]): string | null {
  const there = new Set(since.map((edit) => edit.id));
  const last = lost.findLast((one) => one.title !== null);
  if (last && !last.isOwn && since.some((edit) => edit.title === last.title)) return null;
  return (
    lost.filter((one) => one.isOwn && !there.has(one.id)).findLast((one) => one.title !== null)
      ?.title ?? null
  );
}

/** The steps of edits; undefined if one of them replaced the content. */
export function stepsOf(edits: readonly Edit[]): Step[][] | undefined {
  if (edits.some((edit) => edit.steps === null && edit.title === null)) return undefined;
  return edits.map((edit) => (edit.steps ?? []).map((json) => Step.fromJSON(schema, json)));
}
