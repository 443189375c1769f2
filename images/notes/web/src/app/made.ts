/**
 * Pages that were made without a network: in the tree, to read and to edit, until the server has made them.
 *
 * Their ids are known before: key and account decide them. Invariant: a page is stored in this browser before it is
 * shown, and only its user sees it; its text is sent after the server has made it.
 */
import { effect } from "@preact/signals";
import type { LiveView, PageNode, TreeNode } from "../api/types";
import { plainText } from "../doc/text";
import { type Writing, writeFor } from "../sync/database";
import { noteUnsent } from "../sync/drafts";
import { keptRequests } from "../sync/kept_requests";
import { ownId } from "../sync/own_id";
import { WAITING } from "../sync/repeats";
import type { KeptRequest, MadePage } from "../sync/stored";
import { favourites, opened, openPage, readTree, setTree, trees, userId } from "./store";
import { EMPTY, found, isWaiting, type Made, making, waiting } from "./waiting";

const NOTE_MS = 400;

const isPage = (one: KeptRequest): one is Made =>
  one.kind === "page" && one.doubt !== "" && one.node !== undefined && one.made !== undefined;

/** Reads which pages wait; what the server has made since is read from there, and its text is sent. */
export async function showWaiting(): Promise<void> {
  const before = waiting.value;
  const all = (await keptRequests(userId())).filter(isPage);
  found.value = all.sort((a, b) => a.at - b.at || a.id.localeCompare(b.id));
  const gone = [...before.values()].filter((one) => !isWaiting(one.id));
  if (!gone.length) return;
  for (const space of new Set(gone.map((one) => one.made.space)))
    void readTree(space).catch(() => undefined);
  for (const one of gone) if (opened.value?.id === one.id) void openPage(one.id);
  await send();
}

let sendTexts = async (): Promise<void> => undefined;
const send = (): Promise<void> => sendTexts().catch(() => undefined);

/**
 * Sends what waits, and what a failover has lost; resolves when it is known which pages wait. `sending` sends the texts of
 * the editor, which this module does not know.
 */
export async function sendKept(sending: () => Promise<void>): Promise<void> {
  sendTexts = sending;
  await showWaiting();
  void import("../screens/beside/requests")
    .then((part) => part.repeatLost())
    .catch(() => undefined);
}

export interface Wanted extends MadePage {
  key: string;
  title: string;
  role: PageNode["role"];
}

/** Makes a page in this browser alone; its id, or undefined where the browser cannot do that. */
export async function makeHere({ key, title, role, ...made }: Wanted): Promise<string | undefined> {
  const user = userId();
  const id = await ownId(user, key);
  if (!id) return undefined;
  const node: PageNode = {
    ...{ id, title, role, space_id: made.space, parent_id: made.parent, version: 0 },
    ...{ is_template: made.is_template, doc: made.doc ?? EMPTY, trashed_at: null },
    ...{ updated_at: new Date().toISOString(), is_favourite: false, is_watched: true },
  };
  const one: Made = {
    ...{ key, user, page: id, id, title, node, made, kind: "page", doubt: WAITING },
    ...{ at: Date.now(), body: plainText(node.doc) },
  };
  const isKept = await writeFor(user, (work) => put(work, one)).catch(() => false);
  if (!isKept) return undefined;
  noteUnsent();
  await showWaiting();
  return id;
}

async function put(work: Writing, one: Made): Promise<void> {
  await work.objectStore("requests").put(one);
  const { id, user, node, body: text = "" } = one;
  const bytes = JSON.stringify(node).length + text.length;
  const page = { id, user, space_id: node.space_id, node, text, bytes, readAt: Date.now() };
  // For the search without a network.
  await work.objectStore("pages").put(page);
}

const noting = new Map<string, ReturnType<typeof setTimeout>>();

/** Stores what is written at a page that waits, a moment later. */
export function noteSoon(page: string, view: () => LiveView | undefined): void {
  if (!isWaiting(page) || noting.has(page)) return;
  const timer = setTimeout(() => {
    noting.delete(page);
    const now = view();
    if (now) void keepText(page, now).catch(() => undefined);
  }, NOTE_MS);
  noting.set(page, timer);
}

async function keepText(page: string, { title, doc }: LiveView): Promise<void> {
  const one = waiting.value.get(page);
  if (!one) return;
  let next: Made | undefined;
  await writeFor(one.user, async (work) => {
    const stored = await work.objectStore("requests").get(one.key);
    // Meanwhile the server may have made it, or its person has given it up.
    if (!stored || !isPage(stored)) return;
    const node = { ...stored.node, title, doc, updated_at: new Date().toISOString() };
    next = { ...stored, node, body: plainText(doc) };
    await put(work, next);
  });
  const made = next;
  if (made) found.value = found.value.map((other) => (other.key === made.key ? made : other));
}

const inTree = ({ id, title, made, node }: Made): TreeNode => ({
  ...{ id, parent_id: made.parent, title: node.title || title, is_template: made.is_template },
  ...{ is_restricted: false, updated_at: node.updated_at },
});

// The trees come from the server, or from the store: the pages that wait are the last of their siblings.
effect(() => {
  for (const [space, tree] of trees.value) {
    const here = [...waiting.value.values()].filter((one) => one.made.space === space).map(inTree);
    const served = tree.served ?? tree.nodes;
    const titles = new Map(here.length ? served.map((node) => [node.id, node.title]) : []);
    const missing = here.filter((node) => titles.get(node.id) !== node.title);
    if (!missing.length) continue;
    const ids = new Set(missing.map((node) => node.id));
    setTree(space, [...served.filter((node) => !ids.has(node.id)), ...missing]);
  }
});

// What the server does not have is shown as it is here.
effect(() => {
  const shown = opened.value;
  const one = shown && waiting.value.get(shown.id);
  if (!one || (shown.node?.doc === one.node.doc && shown.node.title === one.node.title)) return;
  const is_favourite = favourites.value.some((other) => other.id === one.id);
  opened.value = { id: one.id, node: { ...one.node, is_favourite }, storedAt: Date.now() };
});

Object.assign(making, { note: noteSoon, show: showWaiting, send });
