/** Applies live events, and the return of the network, to the store. */
import { BUSY_MS, isBusy } from "../api/client";
import { follow } from "../api/events";
import { listenForAnother, userOfBrowser } from "../api/signed_in";
import type { LiveEvent } from "../api/types";
import { doubtsOf, noteUnsent, rememberedOf, unsentPages } from "../sync/drafts";
import { keptRequests } from "../sync/kept_requests";
import { removePage } from "../sync/offline";
import { hearOfComments } from "./comments";
import { editing, whenUnsent } from "./editing";
import { firstView } from "./first_view";
import { hearOf, live } from "./presence";
import { route } from "./router";
import { pageOf } from "./routes";
import { hide, refresh } from "./session";
import { pauseOf } from "./steady";
import { isOnline, me, notice, opened, openPage, phase, readLists, readTree, trees } from "./store";
import { readUnread } from "./told";
import { forgetTyped, TYPED } from "./typed";
import { words } from "./words";

const PAUSE_MS = 250;
const stale = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

const READS: Record<string, () => Promise<void>> = {
  lists: readLists,
  all: () => refreshAll(),
  told: readUnread,
};

/** Reads changed trees and lists once for many events that arrive together. */
function later(what: string): void {
  stale.add(what);
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    const wanted = [...stale];
    stale.clear();
    for (const one of wanted) {
      const work = READS[one] ?? (() => readTree(one));
      work().catch((error) => {
        if (isBusy(error)) setTimeout(() => later(one), BUSY_MS);
      });
    }
  }, PAUSE_MS);
}

/** Sends what an earlier tab could not send, or the server has lost; fetches the editor only for that. */
export async function sendDrafts(): Promise<void> {
  noteUnsent();
  const id = me.value?.id;
  if (!id) return;
  if ((await keptRequests(id)).length)
    await import("./made").then((part) => part.sendKept(sendTexts)).catch(() => undefined);
  const found = [
    await unsentPages(id),
    new Set(await rememberedOf(id)),
    new Set(await doubtsOf(id)),
  ];
  if (found.every((one) => !one.size)) return;
  await sendTexts();
}

const sendTexts = (): Promise<void> => import("../editor/left").then((part) => part.sendDrafts());

/** After how long what is left is sent again if it could not begin: a part was not to be had. */
const AGAIN_MS = 10_000;
let again: ReturnType<typeof setTimeout> | undefined;

/** Sends what is left from before, now or as soon as that can begin. */
export async function sendLeft(): Promise<void> {
  clearTimeout(again);
  await sendDrafts().catch(() => {
    again = setTimeout(sendLeft, AGAIN_MS);
  });
}

async function refreshAll(): Promise<void> {
  await refresh();
  // What is shown does not wait for what is sent: that may take long, and may fail.
  hearOfComments("");
  // By the address: another user's sign-in has closed what was open.
  const page = pageOf(route.value);
  if (page) await openPage(page);
  await sendLeft();
}

function apply(event: LiveEvent): void {
  const { kind, space_id: space } = event;
  const shown = opened.value;
  // A page that leaves all who can read its place is not named.
  const isHere = kind === "page.left" && shown?.node?.space_id === space;
  const node = event.node_id ?? (isHere ? shown?.id : undefined);
  if (kind === "reset") {
    later("all");
    return;
  }
  if (kind.startsWith("space.")) later("all");
  if (kind.startsWith("notification.")) later("told");
  if (kind.startsWith("comment.") && node) hearOfComments(node);
  if (!kind.startsWith("page.")) return;
  if (["page.edited", "page.people", "page.carets"].includes(kind)) {
    hearOf(event);
    return;
  }
  if (space && trees.value.has(space)) later(space);
  later("lists");
  if (!node) return;
  if (kind === "page.deleted") void removePage(node);
  if (node !== opened.value?.id) return;
  const before = opened.value.node?.version;
  void openPage(node).then(() => {
    const now = opened.value;
    if (
      kind === "page.saved" &&
      !live.value &&
      editing.value !== node &&
      now?.id === node &&
      before &&
      now.node &&
      now.node.version > before
    ) {
      notice.value = words.value.changedNow;
    }
  });
}

export function startLive(): void {
  let stop: (() => void) | undefined;
  me.subscribe((who) => {
    if (who && !stop) stop = follow(apply, firstView(who.id)?.dataset.since ?? who.events_since);
    else if (!who && stop) {
      stop();
      stop = undefined;
    }
  });
  addEventListener("online", () => {
    isOnline.value = true;
    later("all");
  });
  addEventListener("offline", () => {
    isOnline.value = false;
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    // Another tab may have left something.
    noteUnsent();
    // Somebody may have signed out, or in as another user, through the plain pages.
    const isOther = me.value !== undefined && userOfBrowser() !== me.value.id;
    if (!isOnline.value || isOther) later("all");
  });
  new BroadcastChannel("notes-session").onmessage = (message: MessageEvent<string>) => {
    if (phase.value === "ready" && message.data === me.value?.id) void hide();
    if (message.data === TYPED) forgetTyped();
  };
  listenForAnother(() => later("all"));
  whenUnsent(sendLeft);
}

/** When the server came back last, and when it may come back at the earliest. */
let backAt = Number.NEGATIVE_INFINITY;
let mayReturnAt = 0;
let lastPause = 0;
let asking: ReturnType<typeof setTimeout> | undefined;

/** Called after each request: shows if the server is reached, and asks again until it is. */
export function reached(isReached: boolean): void {
  const now = Date.now();
  if (isReached === isOnline.value || (isReached && now < mayReturnAt)) return;
  isOnline.value = isReached;
  if (isReached) {
    backAt = now;
    notice.value = words.value.online;
    later("all");
  } else {
    lastPause = pauseOf(lastPause, now - backAt);
    mayReturnAt = now + lastPause;
    retry(Math.max(2000, lastPause));
  }
}

function retry(pause: number): void {
  const longer = (): void => retry(Math.min(pause * 2, 30_000));
  clearTimeout(asking);
  asking = setTimeout(
    () => {
      if (isOnline.value || !navigator.onLine) return;
      fetch("/readyz", { cache: "no-store" })
        .then((answer) => {
          if (answer.ok) reached(true);
          if (!isOnline.value) longer();
        })
        .catch(longer);
    },
    pause * (0.5 + Math.random()),
  );
}
