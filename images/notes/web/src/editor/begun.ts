/** Makes the session of a page: a new one, or that of the draft of a tab that is gone. */
import { isCurrent } from "../api/signed_in";
import { makeId } from "../app/presence";
import { opened, userId } from "../app/store";
import { words } from "../app/words";
import { draftsOf, editsOf, take, takeStored, whole } from "../sync/drafts";
import { beginning } from "./begin";
import { drop, outside, releases, sessions } from "./held";
import { showLost } from "./lost_text";
import { plugins } from "./plugins";
import { resumed, Session } from "./session";

const opening = new Map<string, Promise<Session | undefined>>();

/** The session of a page, made once however many ask for it at the same time. */
export async function once(
  page: string,
  make: () => Promise<Session | undefined>,
): Promise<Session | undefined> {
  const begun = opening.get(page);
  const found = sessions.get(page) ?? (await begun);
  if (found?.user === userId()) return found;
  // Somebody else has signed in: the session of the former user, and what is in it, is not theirs.
  if (found) drop(found);
  if (begun) return undefined;
  const making = make();
  opening.set(page, making);
  try {
    const made = await making;
    if (made && made.user !== userId()) drop(made);
    else if (made) sessions.set(page, made);
    return sessions.get(page);
  } finally {
    opening.delete(page);
  }
}

/** A session that begins anew; with `mayBeStored` also without a network. */
export async function fresh(page: string, mayBeStored = false): Promise<Session> {
  const isSame = isCurrent();
  const user = userId();
  const client = makeId();
  const live = await beginning(page, user, mayBeStored);
  let made: Session | undefined;
  const given = plugins(page, live.seq, () => made);
  try {
    made = new Session(page, user, client, live, outside(isSame), given);
  } catch (error) {
    // The schema does not know a block or a mark.
    throw error instanceof RangeError ? new Error(words.value.newerParts) : error;
  }
  if (opened.value?.id === page) made.space = opened.value.node?.space_id ?? "";
  const release = await take(client);
  if (release) releases.set(made, release);
  return made;
}

export async function fromDraft(page: string, isAll = true): Promise<Session | undefined> {
  const isSame = isCurrent();
  for (const { page: of, client, lost } of await draftsOf(userId())) {
    if (of !== page || (lost && !isAll)) continue;
    const taken = await takeStored(client, async () => {
      const draft = await whole("drafts", client);
      if (!draft) return undefined;
      let made: Session | undefined;
      made = resumed(
        draft,
        outside(isSame),
        plugins(page, draft.seq, () => made),
        await editsOf(draft.client),
      );
      if (!made) void showLost();
      return made;
    });
    // Another tab has it, or had it and has sent it.
    if (!taken) continue;
    releases.set(taken.found, taken.release);
    return taken.found;
  }
  return undefined;
}
