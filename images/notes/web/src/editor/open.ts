/** Opens and closes the session of a page. */
import { editing, followWith, saving } from "../app/editing";
import { moved, showEdited } from "../app/presence";
import { fresh, fromDraft, once } from "./begun";
import { caretOf, meet } from "./carets";
import { end, isDone } from "./held";
import { prepare } from "./large";
import { isLinking } from "./plugins";
import type { Session } from "./session";
import { resumeDoubts } from "./stored_doubts";
import { resumeUploads } from "./uploads";

/** The session of a page: the one that still sends, a draft's, or a new one. */
export async function open(page: string): Promise<Session> {
  const make = async (): Promise<Session> => (await fromDraft(page)) ?? (await fresh(page, true));
  const found = (await once(page, make)) ?? ((await once(page, make)) as Session);
  followWith({
    page,
    seq: () => found.seq,
    hear: (seq, id, asked) => void found.hear(seq, id, asked),
    caret: () => (found.show ? caretOf(found.state) : undefined),
    meet: (told) => found.apply(meet(found.now(), told)),
  });
  saving.value = { page, state: found.saving };
  found.start();
  void resumeUploads(found).catch(() => undefined);
  // Nobody waits for them: their places are asked of the server.
  void resumeDoubts(found).catch(() => undefined);
  // It is there already unless the application began without a network.
  void import("./left").catch(() => undefined);
  await prepare(found.state.doc.childCount);
  return found;
}

/** The editor of a page is closed: its session goes on until everything is sent. */
export function close(session: Session): void {
  session.show = undefined;
  moved(session.page);
  if (editing.value === session.page) editing.value = "";
  isLinking.value = false;
  showEdited(session.page, session.liveView);
  if (isDone(session)) end(session);
  else session.start();
}
