/** Deletes what this browser stores for people who have signed out on a plain page, and wanted that. */
import { clear, session } from "../sync/database";
import { removeUnsent } from "../sync/drafts";
import { forgetTypedOf } from "./typed";

/** The server sets this cookie where the browser would delete what others have not sent, too. */
const LEFT = /(?:^|; )notes-left=([^;]+)/;

/** Deletes it; awaited before anything that is stored is shown. */
export async function removeLeft(): Promise<void> {
  const left = LEFT.exec(document.cookie)?.[1];
  if (!left) return;
  try {
    for (const user of left.split(".")) {
      if ((await session())?.me.id === user) await clear();
      await removeUnsent(user);
      forgetTypedOf(user);
    }
    document.cookie = "notes-left=; Path=/; Max-Age=0";
  } catch {
    // A store that fails now is asked again at the next start: the cookie stays.
  }
}
