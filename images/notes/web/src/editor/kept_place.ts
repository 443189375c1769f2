/** Places in a page that are stored for a later start: of uploads, and of doubtful places. */
import { Step } from "prosemirror-transform";
import type { Place } from "../sync/stored";
import { schema } from "./schema";
import type { Session } from "./session";
import { acceptedPos, shownPos, unsentOf } from "./unsent";

/** A position of the document as it is stored: in the server's document after the last edit. */
export const placeOf = ({ state, seq, id }: Session, pos: number): Place => ({
  ...{ seq, id, pos: acceptedPos(state, pos), isExact: unsentOf(state).length === 0 },
});

/** Where a place is now; the end of the text if nobody knows. */
export const placeNow = async (session: Session, { pos, ...of }: Place): Promise<number> =>
  (await placesNow(session, of, [pos]))[0] as number;

/** Where positions of one edit are now, all of them at the same moment; the end of the text if nobody knows. */
export async function placesNow(
  session: Session,
  { seq, id, isExact }: Omit<Place, "pos">,
  positions: number[],
): Promise<number[]> {
  const side = isExact ? -1 : 1;
  let [at, known, edit] = [positions, seq, id];
  try {
    while (known < session.seq) {
      const found = await session.outside.since(session.page, known, edit);
      const last = found.edits.at(-1);
      if (!found.is_known || !last) throw new Error("unknown");
      for (const one of found.edits.filter((each) => each.seq <= session.seq)) {
        if (one.steps === null && one.title === null) throw new Error("replaced");
        for (const json of one.steps ?? []) {
          const map = Step.fromJSON(schema, json).getMap();
          at = at.map((pos) => map.map(pos, side));
        }
        [known, edit] = [one.seq, one.id];
      }
    }
    // A number alone may be another edit's, after a failover that lost edits.
    if (edit !== session.id) throw new Error("lost");
    at = at.map((pos) => shownPos(session.state, pos, side));
  } catch {
    at = at.map(() => session.state.doc.content.size - 1);
  }
  return at.map((pos) => Math.max(0, Math.min(pos, session.state.doc.content.size)));
}
