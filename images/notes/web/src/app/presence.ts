/**
 * The open page as it is now: its edits that are not saved as a version yet, and who else is there.
 *
 * A visible tab reports its page; for that it gets word of edits and people. A report that is
 * answered makes up for lost word. Invariant: what the server says of another page, or said under
 * another sign-in, is not shown.
 */
import { effect, signal, untracked } from "@preact/signals";
import { ApiError, request } from "../api/client";
import { isCurrent, load } from "../api/signed_in";
import type { Edits, LiveEvent, LiveView, Person, Presence } from "../api/types";
import type { Doc } from "../doc/types";
import type { EditLog } from "../sync/edit_log";
import { editing, followerOf, sendUnsent } from "./editing";
import { isOnline, me, opened, openPage, phase } from "./store";

const REPORT_MS = 12_000;
/** A caret that moves is reported so often at most. */
const CARET_MS = 1000;

/** The document with all edits; absent while the page is as its last version. */
export const live = signal<{ page: string; title: string; doc: Doc }>();
/** The other people at the open page. */
export const people = signal<readonly Person[]>([]);

const isVisible = signal(document.visibilityState === "visible");
const tab = makeId();
let page = "";
let log: EditLog | undefined;
let following: Promise<void> | undefined;
let isBehind = false;
let timer: ReturnType<typeof setInterval> | undefined;
let moving: ReturnType<typeof setTimeout> | undefined;
let reportedAt = 0;

/** A random id. */
export function makeId(): string {
  // `crypto.randomUUID` is missing where a page came over plain HTTP.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const others = <T extends Person>(found: readonly T[]): readonly T[] =>
  found.filter((one) => one.id !== me.value?.id);

/** Reports that this tab shows the page, and follows its edits if it has missed some. */
async function report(id: string): Promise<void> {
  const isSame = isCurrent();
  try {
    const path = `/api/v1/nodes/${id}/presence`;
    reportedAt = Date.now();
    const asking = followerOf(id);
    const [asked, caret] = [asking?.seq(), asking?.caret()];
    const found = await request<Presence>("POST", path, { body: { tab, caret } });
    if (id !== page || !isSame()) return;
    people.value = others(found.people);
    const follower = followerOf(id);
    if (follower) {
      follower.hear(found.seq, found.id, asked);
      follower.meet(others(found.carets));
      return;
    }
    const isKnown = log ? log.seq === found.seq && log.id === found.id : found.is_saved;
    if (!isKnown) follow(id);
  } catch (error) {
    const isLost = error instanceof ApiError && [403, 404].includes(error.status);
    if (!isLost || id !== page || !isSame()) return;
    void sendUnsent();
    void openPage(id);
  }
}

/** Tells the others at a page soon where the caret of its editor is now. */
export function moved(id: string): void {
  if (moving !== undefined || id !== page || !isHere || !people.value.length) return;
  const pause = Math.max(CARET_MS / 5, reportedAt + CARET_MS - Date.now());
  moving = setTimeout(() => {
    moving = undefined;
    if (id === page && isHere) void report(id);
  }, pause);
}

/** Reads the edits after what is shown, once more if word of others comes meanwhile. */
function follow(id: string): void {
  isBehind = true;
  following ??= (async () => {
    while (isBehind && page === id) {
      isBehind = false;
      await catchUp(id);
    }
  })().finally(() => {
    following = undefined;
    if (isBehind && page) follow(page);
  });
}

async function catchUp(id: string): Promise<void> {
  try {
    const { EditLog } = await import("../sync/edit_log");
    const next = (log && (await withMissed(id, log))) ?? new EditLog(await readLive(id));
    if (id === page) show(next);
  } catch (error) {
    // Unreachable: what is shown stays. The next report tries again.
    if (!(error instanceof ApiError) || id !== page) return;
    show(undefined);
    if ([403, 404].includes(error.status)) void openPage(id);
  }
}

const readLive = (id: string): Promise<LiveView> =>
  load<LiveView>(`/api/v1/nodes/${id}/live`, () => undefined);

/** The log with the edits after it; undefined if they are not in the server's log any more. */
async function withMissed(id: string, held: EditLog): Promise<EditLog | undefined> {
  for (;;) {
    const path = `/api/v1/nodes/${id}/edits?since=${held.seq}&id=${held.id}`;
    let found: Edits;
    try {
      found = await load<Edits>(path, () => undefined);
    } catch (error) {
      if (error instanceof ApiError && error.status === 410) return undefined;
      throw error;
    }
    if (!found.is_known) void sendUnsent();
    if (!found.is_known || !held.take(found.edits)) return undefined;
    if (held.seq >= found.seq || !found.edits.length) return held;
  }
}

function show(next: EditLog | undefined): void {
  log = next;
  live.value = next && { page, title: next.title, doc: next.doc };
}

/** Applies an event of the open page that is not about a stored version. */
export function hearOf(event: LiveEvent): void {
  if (event.node_id !== page) return;
  if (event.kind === "page.people") {
    people.value = others(event.people ?? []);
    moved(page);
  } else if (event.kind === "page.carets") followerOf(page)?.meet(others(event.carets ?? []));
  else {
    const follower = followerOf(page);
    if (follower) follower.hear(event.seq ?? 0, event.edit_id ?? "");
    else if (log === undefined || log.id !== event.edit_id) follow(page);
  }
}

/** Shows what an editor of this tab has made of the page. */
export function showEdited(id: string, view: LiveView): void {
  if (id !== page) return;
  void import("../sync/edit_log").then(({ EditLog }) => {
    if (id === page && editing.value !== id) show(new EditLog(view));
  });
}

function leave(id: string): void {
  // The answer is of no use; the server forgets a tab that says nothing after 30 seconds.
  void fetch(`/api/v1/nodes/${id}/presence`, {
    method: "POST",
    keepalive: true,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ tab, is_here: false }),
  }).catch(() => undefined);
}

function come(): void {
  void report(page);
  timer = setInterval(() => void report(page), REPORT_MS);
}

function go(): void {
  clearInterval(timer);
  if (phase.value === "ready" && isOnline.value) leave(page);
  people.value = [];
  followerOf(page)?.meet([]);
}

let isHere = false;

/** Goes from the page before to the next one; a hidden tab keeps what it shows. */
function moveTo(next: string, willBeHere: boolean): void {
  if (isHere && (next !== page || !willBeHere)) go();
  const isAnother = next !== page;
  if (isAnother) {
    page = next;
    log = undefined;
    isBehind = false;
    live.value = undefined;
  }
  const wasHere = isHere && !isAnother;
  isHere = willBeHere && next !== "";
  if (isHere && !wasHere) come();
}

export function startPresence(): void {
  const look = (): void => {
    isVisible.value = document.visibilityState === "visible";
  };
  document.addEventListener("visibilitychange", look);
  addEventListener("pageshow", look);
  addEventListener("pagehide", () => {
    isVisible.value = false;
  });
  effect(() => {
    const shown = opened.value;
    const isShown = shown?.node && !shown.node.trashed_at && shown.storedAt === undefined;
    const next = isShown ? shown.id : "";
    const willBeHere = isVisible.value && isOnline.value && phase.value === "ready";
    untracked(() => moveTo(next, willBeHere));
  });
}
