/**
 * What this browser has of a page, for an editor that begins without a network.
 *
 * Invariant: it is exactly the document of the edit that it names, if the server still has that edit; a session on it goes on
 * as a draft does that has nothing to send.
 */
import { Step } from "prosemirror-transform";
import { words } from "../app/words";
import { draftsOf, rememberedOf, whole } from "../sync/drafts";
import { baseOf, mayBeWritten, storedPage } from "../sync/offline";
import type { Draft, PageBase } from "../sync/stored";
import { isDamaged } from "./damaged";
import { docOf, nodeFrom, schema } from "./schema";
import { applied } from "./session";

/** The newest document of a page that this browser has. Throws with the reason if it may not be edited. */
export async function storedView(page: string, user: string): Promise<PageBase> {
  // The text of the other tab would be missing here, and might be written a second time.
  for (const one of (await draftsOf(user)).filter((each) => each.page === page)) {
    if (!isDamaged(await whole("drafts", one.client))) throw new Error(words.value.editedElsewhere);
  }
  const stored = await storedPage(page, user);
  const over = (await rememberedOf(user)).filter((one) => one.page === page);
  const known = await Promise.all(over.map((one) => whole("remembered", one.client)));
  // What a session remembers does not say what its person may do now; the page does.
  const found =
    stored && mayBeWritten(stored.node) && newest([baseOf(stored), ...known.map(viewOf)]);
  if (!found) throw new Error(words.value.noCopy);
  return found;
}

/** The document after all that the server has accepted of a session; undefined if it cannot be made. */
export function viewOf(session: Draft | undefined): PageBase | undefined {
  if (!session) return undefined;
  const { seq, id, title, doc, passed } = session;
  try {
    let made = nodeFrom(doc);
    for (const json of passed) made = applied(Step.fromJSON(schema, json), made);
    return { seq, id, title, doc: docOf(made) };
  } catch {
    return undefined;
  }
}

/** The one after the most edits; the first of several. */
export const newest = (views: readonly (PageBase | undefined)[]): PageBase | undefined =>
  views.reduce((best, one) => (one && (!best || one.seq > best.seq) ? one : best), undefined);
