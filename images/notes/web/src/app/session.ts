/** The sign-in of this tab: its start, another user's, and its end. */
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { ApiError, BUSY_MS, get, isBusy, request, UnreachableError } from "../api/client";
import { beginSignIn, EndedError, isAnother, isCurrent, userOfBrowser } from "../api/signed_in";
import type { Me, PageNode, Reference, Site, Space } from "../api/types";
import { clear, endSession, keepSession, keepValue, session } from "../sync/database";
import { removeUnsent } from "../sync/drafts";
import { shownOf, storedStart } from "../sync/offline";
import { firstView } from "./first_view";
import { removeLeft } from "./left_behind";
import { go, route } from "./router";
import { pageOf } from "./routes";
import {
  favourites,
  keptSpaces,
  type Last,
  lastOpened,
  me,
  notice,
  opened,
  phase,
  readLists,
  readSpaces,
  recent,
  setTree,
  site,
  spaces,
  trees,
  userId,
} from "./store";
import { readUnread, unread } from "./told";
import { forgetTyped, TYPED } from "./typed";

/** How long a start waits for the server while the browser says that it has a network. */
const WAIT_MS = 3000;

/**
 * Asks the server who is signed in, then shows that user's data; without the server, what is stored
 * for the user who is signed in.
 *
 * With a network the server is asked first: the session may have been ended elsewhere.
 */
export async function start(): Promise<void> {
  await removeLeft();
  const known = await session();
  const asked = refresh();
  if (known?.isActive && userOfBrowser() === known.me.id) {
    await Promise.race([asked, pause(navigator.onLine ? WAIT_MS : 0)]);
    if (phase.value === "starting") {
      await show(known.me);
      phase.value = "ready";
    }
  }
  await asked;
  if (phase.value === "starting") phase.value = "nobody offline";
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

let shown: { id: string; done: Promise<void> } = { id: "", done: Promise.resolve() };

/** Begins the sign-in of a user with what is stored for them, once. */
function show(who: Me): Promise<void> {
  if (shown.id !== who.id) {
    forget();
    beginSignIn(who.id);
    shown = { id: who.id, done: fromStore(who.id) };
  }
  question.value = undefined;
  me.value = who;
  return shown.done;
}

const LISTS = ["site", "spaces", "favourites", "recent", "kept spaces", "last opened"] as const;

async function fromStore(user: string): Promise<void> {
  const isSame = isCurrent();
  const page = pageOf(route.value);
  const first = firstView(user);
  if (first) {
    const node = JSON.parse(first.text) as PageNode;
    if (node.id === page)
      opened.value = { id: page, node, isNew: first.dataset.since !== undefined };
  }
  // A store that fails, such as a full one, shows nothing: the server has everything.
  const found = await storedStart(user, LISTS, page).catch(() => undefined);
  if (!found || !isSame()) return;
  const kept = <T>(name: (typeof LISTS)[number]) => found.values.get(name) as T | undefined;
  site.value ??= kept<Site>("site");
  spaces.value = kept<Space[]>("spaces") ?? [];
  favourites.value = kept<Reference[]>("favourites") ?? [];
  recent.value = kept<Reference[]>("recent") ?? [];
  keptSpaces.value = new Set(kept<string[]>("kept spaces"));
  lastOpened.value = kept<Last[]>("last opened") ?? [];
  for (const { id } of spaces.value) {
    const nodes = found.trees.get(id);
    if (nodes) setTree(id, nodes);
  }
  // The first drawing has the text: without this the page would be read after it.
  if (found.page && page === pageOf(route.value) && !opened.value?.node) {
    opened.value = { id: page, node: shownOf(found.page), storedAt: found.page.readAt };
  }
}

/** Reads everything that is shown from the server. */
export async function refresh(): Promise<void> {
  try {
    const [who, where] = await Promise.all([
      get<Me>("/api/v1/me", { isProbe: true }),
      get<Site>("/api/v1/site"),
    ]);
    site.value = where;
    await use(who);
    await keepValue("site", who.id, where).catch(() => undefined);
    if (spaces.value.length) phase.value = "ready";
    await Promise.all([readSpaces(), readLists(), readUnread()]);
    phase.value = "ready";
  } catch (error) {
    if (error instanceof EndedError) return;
    if (error instanceof ApiError && error.status === 401) await signInFirst(error.hasExpired);
    else if (!(error instanceof UnreachableError)) notice.value = String(error);
    if (isBusy(error)) setTimeout(refresh, BUSY_MS);
  }
}

async function use(who: Me): Promise<void> {
  if (me.value?.id !== who.id) {
    forget();
    // Until the store of the former user is empty, no answer to a request is used.
    beginSignIn("");
  }
  const isSame = isCurrent();
  await removeLeft();
  const known = await session();
  // What another person has stored here is theirs; it is removed before anything is shown.
  if (known && known.me.id !== who.id) {
    await clear();
    tellSignedOut(known.me.id, false);
  }
  if (!isSame()) throw new EndedError("me");
  const { events_since: _, ...kept } = who;
  // Without room for it nothing is stored for them, and an editor says so.
  await keepSession({ me: kept, isActive: true }).catch(() => undefined);
  await show(who);
}

function forget(): void {
  shown = { id: "", done: Promise.resolve() };
  question.value = undefined;
  me.value = undefined;
  unread.value = 0;
  spaces.value = [];
  trees.value = new Map();
  favourites.value = [];
  recent.value = [];
  opened.value = undefined;
  lastOpened.value = [];
  keptSpaces.value = new Set();
}

async function signInFirst(hasExpired: boolean): Promise<void> {
  // Who has just signed out, and comes back online, stays where they are.
  const wasReady = ["ready", "signed out"].includes(phase.value);
  const where = await get<Site>("/api/v1/site").catch(() => undefined);
  if (where && !where.is_set_up) {
    go("/w/setup", true);
    phase.value = "not set up";
    return;
  }
  await endSignIn(hasExpired);
  if (!wasReady) location.assign(signInPath());
}

/** The question over the page after a sign-in has expired, fetched for that. */
export const question = signal<FunctionComponent>();
let ask = hide;
/** Sets what asks it. */
export const whenExpired = (act: () => Promise<void>): void => {
  ask = act;
};

/**
 * Asks the person whose sign-in has expired, over the page that they see, to sign in again. Of a sign-in that was ended,
 * or that this tab has not heard of from the server, it hides everything.
 */
export async function endSignIn(hasExpired: boolean): Promise<void> {
  const isAsked = hasExpired && phase.value === "ready" && me.value?.events_since;
  if (!isAsked || isAnother(userId())) await hide();
  else await ask().catch(hide);
}

export const here = (): string => location.pathname + location.search;
export const signInPath = (): string => `/login?return_to=${encodeURIComponent(here())}`;

/** Hides what is shown and stored until the same user signs in again; removes nothing. */
export async function hide(): Promise<void> {
  const id = userId() || (await session())?.me.id;
  phase.value = "signed out";
  beginSignIn("");
  forget();
  if (id) await endSession(id);
  await removeLeft();
}

/** Signs out. With `isClearing` the browser also deletes what it has stored for this user. */
export async function signOut(isClearing: boolean): Promise<void> {
  const id = userId();
  // The browser would delete what others have not sent, too.
  const kept = isClearing ? "others" : "stored";
  await request<void>("DELETE", `/api/v1/session?keep_${kept}=true`);
  await hide();
  if (isClearing) {
    forgetTyped();
    await clear();
    await removeUnsent(id);
  }
  tellSignedOut(id, isClearing);
}

function tellSignedOut(id: string, isClearing: boolean): void {
  const channel = new BroadcastChannel("notes-session");
  channel.postMessage(id);
  if (isClearing) channel.postMessage(TYPED);
  channel.close();
}
