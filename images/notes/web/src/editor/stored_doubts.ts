/** The doubtful places of a page that the browser has stored. */
import { doubtsOf } from "../sync/drafts";
import { placesNow } from "./kept_place";
import * as doubts from "./places";
import type { Session } from "./session";

/** Shows the doubtful places of the page again, where they are now. */
export async function resumeDoubts(session: Session): Promise<void> {
  for (const one of await doubtsOf(session.user)) {
    const isHere = (): boolean => doubts.doubtsOf(session.state).some(({ id }) => id === one.id);
    if (one.page !== session.page || isHere()) continue;
    const { seq, edit: id, isExact } = one;
    const at = await placesNow(session, { seq, id, isExact }, [one.from, one.to]);
    const [from, to] = at as [number, number];
    if (isHere()) continue;
    const found = { id: one.id, mine: doubts.nodesOf(one.mine), from, to: Math.max(from, to) };
    session.apply(doubts.withDoubts(session.now().tr, [found]));
  }
}
