/** Opens, keeps and ends the sessions of this tab, and takes up the drafts of tabs that are gone. */
import { request, UnreachableError } from "../api/client";
import { isCurrent, load } from "../api/signed_in";
import type { Edits, LiveView } from "../api/types";
import { doubted, editing, followNoMore, followWith, saving } from "../app/editing";
import { isWaiting, noteText } from "../app/waiting";
import { beginning } from "./begin";
import { ending } from "./given_up";
import { makeId, moved, showEdited } from "../app/presence";
import { opened, userId } from "../app/store";
import {
  doubtsOf,
  draftsOf,
  editsOf,
  keepDraft,
  take,
  takeStored,
  unsentPages,
  whole,
} from "../sync/drafts";
import { keptUploads } from "../sync/kept_files";
import { effect, signal } from "@preact/signals";
import { caretOf, meet } from "./carets";
import { resumeDoubts } from "./decisions";
import { isRefused, showLost, showLostSoon } from "./lost_text";
import { isLinking, plugins } from "./plugins";
import { type Saving, Session, type SessionOutside } from "./session";
import { leaveAlone, LOOKED_AFTER_MS, recover, sendAlone } from "./recovery";
import {
  isFileLost,
  isUploading,
  keepPlaces,
  resumeUploads,
  retryUploads,
  stopUploads,
} from "./uploads";

const sessions = new Map<string, Session>();
const opening = new Map<string, Promise<Session | undefined>>();
/** Ends the pauses before another try. */
const pausing = new Set<() => void>();
const releases = new Map<Session, () => void>();
/** The sessions whose pages were gone when they last were heard of. */
const listed = new Set<string>();
/** Counts the changes of sessions, for what draws them. */
export const changes = signal(0);

function outside(isSame: () => boolean): SessionOutside {
  return {
    async send(page, client, batch) {
      // The edits of one person are never sent under another one's name.
      if (!isSame() || isWaiting(page)) throw new UnreachableError(page);
      return request("POST", `/api/v1/nodes/${page}/edits`, { body: { client, ...batch } });
    },
    since: (page, seq, id) =>
      load<Edits>(`/api/v1/nodes/${page}/edits?since=${seq}&id=${id}`, () => undefined),
    live: (page) => load<LiveView>(`/api/v1/nodes/${page}/live`, () => undefined),
    isGone: async (page, space) =>
      // A page that the server has not made yet is none that is gone.
      !isWaiting(page) &&
      (await isRefused(`nodes/${page}`)) &&
      !(space && (await isRefused(`spaces/${space}/tree`))),
    async keep(keeping) {
      const isKept = await keepDraft(keeping);
      if (keeping.draft.lost) showLostSoon();
      noteText(keeping.draft.page, () => sessions.get(keeping.draft.page)?.liveView);
      if (keeping.doubts.length) doubted.value = new Set([...doubted.value, keeping.draft.page]);
      return isKept;
    },
    pause: (ms) =>
      new Promise((done) => {
        const end = (): void => {
          clearTimeout(timer);
          pausing.delete(end);
          done();
        };
        const timer = setTimeout(end, ms);
        pausing.add(end);
      }),
    changed(session) {
      if (!isSame()) {
        // The sign-in has ended: the draft waits for its user.
        drop(session);
        return;
      }
      changes.value += 1;
      if (editing.value === session.page || !session.isSent) {
        // What another tab left is sent beside the edits of this one: these may be on their way yet.
        const shown = session.isSent ? (sessions.get(session.page) ?? session) : session;
        saving.value = { page: session.page, state: stateOf(shown) };
      }
      if (session.isSent) keepPlaces(session.state);
      if (session.isSent && listed.delete(session.client)) void showLost();
      if (session.lost) {
        listed.add(session.client);
        void showLost();
        // One that is being sent may find the page again.
        if (!session.show && ["saved", "refused"].includes(session.saving)) drop(session);
        return;
      }
      if (isDone(session) && editing.value !== session.page) end(session);
      else if (session.isSent) leaveAlone(session);
    },
  };
}

/** What is not stored here is not said to be kept. */
const stateOf = ({ saving: state, isKept }: Session): Saving =>
  state === "kept" && !isKept ? "refused" : state;

/** The session of a page, made once however many ask for it at the same time. */
async function once(
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
  return found;
}

/** A session that begins anew; with `mayBeStored` also without a network. */
async function fresh(page: string, mayBeStored = false): Promise<Session> {
  const isSame = isCurrent();
  const user = userId();
  const client = makeId();
  const live = await beginning(page, user, mayBeStored);
  let made: Session | undefined;
  made = new Session(
    page,
    user,
    client,
    live,
    outside(isSame),
    plugins(page, live.seq, () => made),
  );
  if (opened.value?.id === page) made.space = opened.value.node?.space_id ?? "";
  const release = await take(client);
  if (release) releases.set(made, release);
  return made;
}

async function fromDraft(page: string, isAll = true): Promise<Session | undefined> {
  const isSame = isCurrent();
  for (const { page: of, client, lost } of await draftsOf(userId())) {
    if (of !== page || (lost && !isAll)) continue;
    const taken = await takeStored(client, async () => {
      const draft = await whole("drafts", client);
      if (!draft) return undefined;
      let made: Session | undefined;
      made = Session.resume(
        draft,
        outside(isSame),
        plugins(page, draft.seq, () => made),
        await editsOf(draft.client),
      );
      return made;
    });
    // Another tab has it, or had it and has sent it.
    if (!taken) continue;
    releases.set(taken.found, taken.release);
    return taken.found;
  }
  return undefined;
}

// A session does not outlive the sign-in of its user: what is not sent is stored as a draft.
effect(() => {
  const user = userId();
  for (const session of [...sessions.values()]) if (session.user !== user) drop(session);
});

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

/** True if nothing of a session is on its way: no edit, and no file. */
const isDone = (session: Session): boolean => session.isSent && !isUploading(session.state);

function drop(session: Session): void {
  session.stop();
  stopUploads(session.state);
  if (sessions.get(session.page) === session) {
    sessions.delete(session.page);
    followNoMore(session.page);
  }
  releases.get(session)?.();
  releases.delete(session);
  leaveAlone(session);
}

/** Ends the session of a text that its person has saved elsewhere or given up. */
export function giveUp(client: string): void {
  const session = [...sessions.values()].find((one) => one.client === client);
  if (!session) return;
  drop(session);
  if (editing.value === session.page) editing.value = "";
}

/** Ends the session of a page that its person has given up. */
export function giveUpPage(page: string): void {
  const session = sessions.get(page);
  if (session) drop(session);
}

function end(session: Session): void {
  const isOpen = sessions.get(session.page) === session;
  drop(session);
  if (isOpen) showEdited(session.page, session.liveView);
}

function startAll(): void {
  for (const session of sessions.values()) {
    session.start();
    retryUploads(session.state);
  }
}

addEventListener("online", startAll);
addEventListener("beforeunload", (event) => {
  // Edits and files that are stored here are sent after the next start; others would be lost.
  const isLost = (one: Session): boolean => (!one.isSent && !one.isKept) || isFileLost(one.state);
  if ([...sessions.values()].some(isLost)) event.preventDefault();
});

Object.assign(ending, { client: giveUp, page: giveUpPage });
