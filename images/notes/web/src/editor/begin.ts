/** The document that an editor begins from which goes on with no draft. */
import { UnreachableError } from "../api/client";
import { isCurrent, load } from "../api/signed_in";
import type { LiveView } from "../api/types";
import { firstView } from "../app/waiting";

export type View = Omit<LiveView, "version">;

/**
 * Reads the server's document, or one of a page that waits; with `mayBeStored`, where no server answers, what this browser
 * has of the page.
 */
export async function beginning(page: string, user: string, mayBeStored: boolean): Promise<View> {
  const isSame = isCurrent();
  const here = firstView(page);
  if (here) return here;
  try {
    return await load<LiveView>(`/api/v1/nodes/${page}/live`, () => undefined);
  } catch (error) {
    // An answer, even that there is no database now, tells of a network: it is asked again.
    const isOffline = error instanceof UnreachableError && !error.status;
    if (!isOffline || !mayBeStored) throw error;
    const found = await import("./stored_view").then((part) => part.storedView(page, user));
    if (!isSame()) throw error;
    return found;
  }
}
