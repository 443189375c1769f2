/** The sessions of this tab: what they need of the world, and how they end. */
import { effect, signal } from "@preact/signals";
import { ApiError, request, UnreachableError } from "../api/client";
import { load } from "../api/signed_in";
import type { Edits, LiveView } from "../api/types";
import { doubted, editing, followNoMore, saving } from "../app/editing";
import { showEdited } from "../app/presence";
import { userId } from "../app/store";
import { isWaiting, noteText } from "../app/waiting";
import { keepDraft } from "../sync/drafts";
import { leaveAlone } from "./alone";
import { ending } from "./given_up";
import { isRefused, showLost, showLostSoon } from "./lost_text";
import type { Saving, Session, SessionOutside } from "./session";
import { isFileLost, isUploading, keepPlaces, stopUploads } from "./uploads";

export const sessions = new Map<string, Session>();
/** Ends the pauses before another try. */
export const pausing = new Set<() => void>();
export const releases = new Map<Session, () => void>();
/** The sessions whose pages were gone when they last were heard of. */
const listed = new Set<string>();
/** Counts the changes of sessions, for what draws them. */
export const changes = signal(0);

export function outside(isSame: () => boolean): SessionOutside {
  return {
    async send(page, client, batch) {
      // The edits of one person are never sent under another one's name.
      if (!isSame() || isWaiting(page)) throw new UnreachableError(page);
      try {
        return await request("POST", `/api/v1/nodes/${page}/edits`, { body: { client, ...batch } });
      } catch (error) {
        // The end of a sign-in tells nothing about a batch: the draft keeps it as it is.
        const isOver = error instanceof ApiError && error.status === 401;
        throw isSame() && !isOver ? error : new UnreachableError(page);
      }
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

// A session does not outlive the sign-in of its user: what is not sent is stored as a draft.
effect(() => {
  const user = userId();
  for (const session of [...sessions.values()]) if (session.user !== user) drop(session);
});

/** True if nothing of a session is on its way: no edit, and no file. */
export const isDone = (session: Session): boolean => session.isSent && !isUploading(session.state);

export function drop(session: Session): void {
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

export function end(session: Session): void {
  const isOpen = sessions.get(session.page) === session;
  drop(session);
  if (isOpen) showEdited(session.page, session.liveView);
}

addEventListener("beforeunload", (event) => {
  // Edits and files that are stored here are sent after the next start; others would be lost.
  const isLost = (one: Session): boolean => (!one.isSent && !one.isKept) || isFileLost(one.state);
  if ([...sessions.values()].some(isLost)) event.preventDefault();
});

Object.assign(ending, { client: giveUp, page: giveUpPage });
