/**
 * Sessions of tabs that are gone, beside those of this tab: they send what is left, or what a failover of the
 * database has lost, and end.
 */
import { isCurrent } from "../api/signed_in";
import { draftsOf, editsOf, rememberedOf, takeStored, whole } from "../sync/drafts";
import type { StoredDraft } from "../sync/stored";
import { alone, followed, leaveAlone } from "./alone";
import { resumed, type Session, type SessionOutside } from "./session";

/** How long the edits of a session that is over are looked after without a new start. */
export const LOOKED_AFTER_MS = 1_800_000;

type MakeOutside = (isSame: () => boolean) => SessionOutside;

/** Goes on with a session, unless another tab does or it is not stored any more. */
async function goOn(
  { client }: StoredDraft,
  store: "drafts" | "remembered",
  outside: MakeOutside,
): Promise<Session | undefined> {
  const taken = await takeStored(client, async () => {
    const draft = await whole(store, client);
    return draft && resumed(draft, outside(isCurrent()), [], await editsOf(client));
  });
  if (taken) alone.set(taken.found, taken.release);
  return taken?.found;
}

/** Asks if the server still has the edits of sessions that are over, and sends those again that it has lost. */
export async function recover(user: string, outside: MakeOutside, since = 0): Promise<void> {
  for (const one of await rememberedOf(user)) {
    if (one.at < since) continue;
    const made = await goOn(one, "remembered", outside).catch(() => undefined);
    await made?.check();
    if (made && (made.isSent || made.lost)) leaveAlone(made);
  }
}

/** Sends the drafts of a page that this tab itself has open. */
export async function sendAlone(page: string, open: Session, outside: MakeOutside): Promise<void> {
  const { user, client } = open;
  for (const one of await draftsOf(user)) {
    if (one.page !== page || one.client === client) continue;
    const made = await goOn(one, "drafts", outside);
    if (!made) continue;
    // What finds no place is asked about where the page is open.
    followed.set(made, open);
    // A page that was gone may be there again.
    if (made.lost) await made.check();
    if (made.lost) leaveAlone(made);
    else made.start();
  }
}
