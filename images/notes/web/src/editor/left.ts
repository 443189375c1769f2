/** Sends what waits in this tab, and what tabs have left behind that are gone. */
import { doubted, editing } from "../app/editing";
import { userId } from "../app/store";
import { doubtsOf, unsentPages } from "../sync/drafts";
import { keptUploads } from "../sync/kept_files";
import { fresh, fromDraft, once } from "./begun";
import { end, isDone, outside, pausing, sessions } from "./held";
import { showLost } from "./lost_text";
import { LOOKED_AFTER_MS, recover, sendAlone } from "./recovery";
import type { Session } from "./session";
import { resumeUploads, retryUploads } from "./uploads";

/** Sends at once what waits in this tab, then the edits and files that closed tabs have left behind. */
export async function sendDrafts(): Promise<void> {
  for (const end of [...pausing]) end();
  startAll();
  checkSessions();
  await sendLeft(true);
  await recover(userId(), outside);
  await showLost();
  doubted.value = new Set((await doubtsOf(userId())).map((one) => one.page));
}

/** Sends the edits and files that tabs have left behind; `isAll` tries pages again that were gone. */
async function sendLeft(isAll: boolean): Promise<void> {
  const withFiles = new Set((await keptUploads(userId())).map((one) => one.page));
  for (const page of await unsentPages(userId())) {
    const known = sessions.get(page);
    if (known) {
      // Another tab that worked at the page may be gone.
      await sendAlone(page, known, outside).catch(() => undefined);
      await resumeUploads(known).catch(() => undefined);
      continue;
    }
    // Of a page that cannot be read now, the files wait for the next start.
    const hasFiles = withFiles.has(page);
    const make = async (): Promise<Session | undefined> =>
      (await fromDraft(page, isAll)) ??
      (hasFiles ? await fresh(page).catch(() => undefined) : undefined);
    // What cannot be read of one page holds up no other.
    const found = await once(page, make).catch(() => undefined);
    if (!found) continue;
    found.start();
    if (isAll) await sendAlone(page, found, outside).catch(() => undefined);
    await resumeUploads(found).catch(() => undefined);
    if (isDone(found) && editing.value !== page) end(found);
  }
}

/** Asks the server if it still has the edits of the open sessions: a hidden tab gets no word of its page. */
function checkSessions(): void {
  for (const session of sessions.values()) void session.check();
}

/** A tab that dies tells nobody. */
const LOOK_MS = 30_000;
/** When this tab, visible, looked last: what was over shortly before that is still looked after. */
let lookedAt = Date.now();
setInterval(() => {
  if (!navigator.onLine) return;
  checkSessions();
  const isSeen = document.visibilityState === "visible";
  const since = isSeen ? lookedAt - LOOKED_AFTER_MS : Date.now();
  if (isSeen) lookedAt = Date.now();
  void sendLeft(false)
    .then(() => recover(userId(), outside, since))
    .catch(() => undefined);
}, LOOK_MS);

function startAll(): void {
  for (const session of sessions.values()) {
    session.start();
    retryUploads(session.state);
  }
}

addEventListener("online", startAll);
