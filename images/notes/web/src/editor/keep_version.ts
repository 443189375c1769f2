/** Ctrl+S: what was written is sent, and becomes a version that later edits do not replace. */
import { effect, type Signal } from "@preact/signals";
import { ApiError, request } from "../api/client";
import { isCurrent } from "../api/signed_in";
import { notice } from "../app/store";
import { words } from "../app/words";
import type { Session } from "./session";
import { en, type WritingWords } from "../words/writing_en";

/** What the editor has: given, so that its script stays in one part. */
interface Around {
  changes: Signal<number>;
  words: (en: WritingWords) => Promise<WritingWords>;
}

/** A key that is held repeats. */
const running = new Set<Session>();

/** Resolves when all is sent, or it is known that it will not be soon. */
const settled = (session: Session, changes: Around["changes"]): Promise<void> =>
  new Promise((done) => {
    const end = effect(() => {
      if (changes.value < 0) return;
      if (!session.isSent && !["kept", "refused"].includes(session.saving)) return;
      // Not here: at its first run the effect has no end yet.
      setTimeout(() => {
        end();
        done();
      });
    });
  });

export async function keepVersion(session: Session, around: Around): Promise<void> {
  if (running.has(session)) return;
  running.add(session);
  const { page } = session;
  const isSame = isCurrent();
  try {
    const said = await around.words(en);
    await settled(session, around.changes);
    // The words above the text say what the server refuses.
    if (!isSame() || session.saving === "refused") return;
    const { isSent } = session;
    if (isSent) await request("POST", `/api/v1/nodes/${page}/revisions`);
    notice.value = isSent ? said.keptVersion : said.keptHere;
  } catch (error) {
    notice.value = error instanceof ApiError ? error.message : words.value.notReached;
  } finally {
    running.delete(session);
  }
}
