/** The sessions of tabs that are gone, which this tab goes on with beside its own. */
import type { Session } from "./session";
import { resumeDoubts } from "./stored_doubts";

/** What gives each of them free. */
export const alone = new Map<Session, () => void>();
/** The session of this tab at the same page. */
export const followed = new WeakMap<Session, Session>();

/** Ends a session that was gone on with beside those of this tab; no effect on others. */
export function leaveAlone(session: Session): void {
  const release = alone.get(session);
  if (!release) return;
  alone.delete(session);
  session.stop();
  release();
  const open = followed.get(session);
  if (open) void resumeDoubts(open).catch(() => undefined);
}
