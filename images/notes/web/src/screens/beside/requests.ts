/**
 * Requests about comments, each under a key: the server does it once, and it is sent again if a failover loses it.
 *
 * Invariant: a request is stored here before its person reads that it is done; one of one person is never sent under
 * another one's name.
 */
import { signal } from "@preact/signals";
import { ApiError, request, UnreachableError } from "../../api/client";
import { EndedError, isCurrent, load } from "../../api/signed_in";
import type { Comment } from "../../api/types";
import { hasLost, hearOfComments } from "../../app/comments";
import { sendKept as sendFavourite } from "../../app/favourite";
import { makeId } from "../../app/presence";
import { go, route } from "../../app/router";
import { pageOf } from "../../app/routes";
import { isOnline, opened, openPage, readLists, userId } from "../../app/store";
import { wire } from "../../editor/upload_wire";
import { words } from "../../app/words";
import { making } from "../../app/waiting";
import { ending } from "../../editor/given_up";
import { draftsOf, noteUnsent, removeDraft, REMEMBERED_MS, take } from "../../sync/drafts";
import { forgetUpload, keepFile, keptFile, keptUploads } from "../../sync/kept_files";
import { changeRequest, forgetRequest, keepRequest, keptRequests } from "../../sync/kept_requests";
import { removePage } from "../../sync/offline";
import { joined, repeat, sorted } from "../../sync/repeats";
import type { KeptRequest } from "../../sync/stored";
import { FileUpload } from "../../sync/upload";
import { keepLater, mustWait, showLater } from "./later";
import { beside, ready } from "./words";

/** What is asked for; `id` is "" for a new comment. */
export type Asked = Omit<KeptRequest, "key" | "user" | "at" | "doubt">;

/** A file that this browser had no room to keep: a person chooses it again. */
const NO_FILE = 422;
/** So often a visible tab asks about requests that are younger than that. */
const LOOK_MS = 30_000;
const LOOKED_AFTER_MS = 1_800_000;

/** What a person has to decide about. */
export const lost = signal<readonly KeptRequest[]>([]);
/** The keys of requests without an answer: the same request again has the same key. */
const open = new Map<string, string>();
const others = new BroadcastChannel("notes-lost");
others.onmessage = () => void showLost();

/**
 * Sends a request, and stores it when the server has accepted it; the comment that it made. Without a network a new
 * comment is stored, and sent later.
 */
export async function ask(asked: Asked): Promise<Comment | undefined> {
  const isSame = isCurrent();
  const user = userId();
  const name = JSON.stringify([user, asked]);
  const key = open.get(name) ?? makeId();
  open.set(name, key);
  try {
    if (mustWait(asked)) throw new UnreachableError(asked.page);
    const made = await send({ ...asked, key, user, at: 0, doubt: "" }, isSame);
    const one = { ...asked, key, user, at: Date.now(), doubt: "", id: made?.id ?? asked.id };
    const next = joined(await keptRequests(user), one);
    // Without room here it is done all the same.
    await keepRequest(next.made, next.replaced).catch(() => false);
    open.delete(name);
    look();
    return made;
  } catch (error) {
    if (error instanceof UnreachableError && asked.kind === "post" && isSame()) {
      const kept = await keepLater({ ...asked, key, user, at: 0, doubt: "" });
      if (kept) {
        open.delete(name);
        look();
        return kept;
      }
    }
    // The next try is based on what is shown then.
    if (error instanceof ApiError && error.status === 409) hearOfComments(asked.page);
    if (error instanceof ApiError && error.status < 500) open.delete(name);
    throw error;
  }
}

async function send(one: KeptRequest, isSame: () => boolean): Promise<Comment | undefined> {
  const { key, kind, page, id, body, resolved, bases } = one;
  if (!isSame()) throw new EndedError(page);
  if (kind === "file") return sendFile(one);
  if (kind === "page") return sendPage(one);
  if (kind === "favourite") {
    await sendFavourite(one);
    return undefined;
  }
  if (kind === "post") {
    const given = {
      ...{ body, key },
      ...(one.parent ? { parent_id: one.parent } : {}),
      ...(one.quote ? { quote: one.quote } : {}),
    };
    return request<Comment>("POST", `/api/v1/nodes/${page}/comments`, { body: given });
  }
  const path = `/api/v1/comments/${id}`;
  if (kind === "delete") {
    await request("DELETE", `${path}?key=${key}&node_id=${page}`);
    return undefined;
  }
  const what = kind === "edit" ? { body } : { resolved };
  const given = { ...what, key, node_id: page, ...(bases ? { bases } : {}) };
  await request("PATCH", path, { body: given });
  return undefined;
}

/** Uploads a file again under its key, so that it has its former address. */
async function sendFile({ key, user, page }: KeptRequest): Promise<undefined> {
  const file = await keptFile({ id: key, user });
  if (!file) throw new ApiError(NO_FILE, beside.value.fileNotKept);
  const upload = new FileUpload(page, file, wire(key));
  await upload.run(new AbortController().signal, () => undefined);
  return undefined;
}

/** Makes a page under its key, so that it has the id that it has here. */
async function sendPage({ key, title: first, made, node }: KeptRequest): Promise<undefined> {
  if (!made) return undefined;
  // The server takes no blank title: the page may have got another one since.
  const title = first.trim() ? first : (node?.title ?? first);
  const { space, parent: parent_id, is_template, doc, template: template_id } = made;
  const content = template_id ? { template_id } : doc ? { doc } : {};
  const body = { title, parent_id, is_template, key, ...content };
  await request("POST", `/api/v1/spaces/${space}/nodes`, { body });
  return undefined;
}

async function answersTo({ page, id }: KeptRequest): Promise<string[]> {
  const found = await load<Comment[]>(`/api/v1/nodes/${page}/comments`, () => undefined);
  return found.filter((one) => one.parent_id === id).map((one) => one.id);
}

/** Sends again what the server has lost of the requests since a moment; one tab at a time. */
async function sendLost(since: number): Promise<void> {
  const isSame = isCurrent();
  const user = userId();
  const release = user && (await take(`requests-${user}`));
  if (!release) return;
  try {
    await ready();
    const found = sorted(await keptRequests(user), Math.max(since, Date.now() - REMEMBERED_MS));
    if (!since) for (const one of found.old) await forgetRequest(one.key);
    if (!found.young.length) return;
    let isMade = false;
    const isChanged = await repeat(found.young, {
      answered: beside.value.answeredSince,
      answers: answersTo,
      async keep(one) {
        // What is wanted of a favourite is done once: later somebody may want the other.
        if (one.kind === "favourite") await forgetRequest(one.key);
        else await changeRequest(one);
        if (one.kind === "page") await making.show();
      },
      forget: forgetRequest,
      async known(keys) {
        if (!isSame()) throw new EndedError(user);
        const body = { keys };
        return (await request<{ keys: string[] }>("POST", "/api/v1/repeats/known", { body })).keys;
      },
      async send(one) {
        await send(one, isSame);
        isMade ||= one.kind === "page";
      },
    });
    if (isChanged) {
      const starred = found.young.filter((one) => one.kind === "favourite");
      if (starred.length) await readLists().catch(() => undefined);
      const shown = opened.value?.id;
      if (shown && starred.some((one) => one.id === shown)) void openPage(shown);
      hearOfComments("");
      others.postMessage("");
      // What was written at a page that a failover has lost was a text without a page until now.
      if (isMade) void making.send();
    }
  } finally {
    release();
  }
}

/** Asks what of the last day the server has lost, and sends it again. */
export async function repeatLost(since = 0): Promise<void> {
  look();
  await sendLost(since).catch(() => undefined);
  await showLost();
}

/** Shows what a person has to decide about. */
export async function showLost(): Promise<void> {
  const found = sorted(await keptRequests(userId()), 0).doubtful;
  lost.value = found;
  noteUnsent();
  await Promise.all([making.show(), showLater()]);
  if (!found.length) return;
  await ready();
  hasLost.value = true;
}

/** Does again what could not be sent again by itself, whatever has changed since. Throws if it is refused. */
export async function insist(one: KeptRequest): Promise<void> {
  // What it was to begin with may be gone: a page begins with what its person has seen.
  const made = one.made && { made: { ...one.made, template: "" } };
  const { bases: _, ...forced } = { ...one, ...made };
  let kept = one;
  try {
    await send(forced, isCurrent());
  } catch (error) {
    // An answer whose thread is gone becomes a thread.
    const isAlone = error instanceof ApiError && [410, 422].includes(error.status);
    if (one.kind !== "post" || !one.parent || !isAlone) throw error;
    const { parent: __, ...alone } = forced;
    kept = alone;
    await send(alone, isCurrent());
  }
  await changeRequest({ ...kept, at: Date.now(), doubt: "" });
  if (one.kind === "page") await making.show();
  hearOfComments(one.page);
  others.postMessage("");
  await showLost();
}

/** Makes a page at the top of another space, or of its own one. Throws if it is refused. */
export async function insistThere(one: KeptRequest, space: string): Promise<void> {
  const { made, node } = one;
  if (!made || !node) return;
  const there = { ...node, space_id: space, parent_id: null };
  await insist({ ...one, made: { ...made, space, parent: null }, node: there });
}

/** Goes on with a file that a person has chosen again, if it is the same one. Throws if it is not. */
export async function insistWith(one: KeptRequest, file: File): Promise<void> {
  if (file.name !== one.body || file.size !== one.size)
    throw new Error(words.value.otherFile(one.body ?? ""));
  if (!(await keepFile({ id: one.key, user: one.user }, file))) throw new Error(words.value.failed);
  await insist(one);
}

/** Gives it up; with a page, all that was written there. */
export async function giveUp(one: KeptRequest): Promise<void> {
  await forgetRequest(one.key);
  if (one.kind === "page") {
    if (pageOf(route.value) === one.id) go("/w");
    ending.page(one.id);
    for (const { page, client } of await draftsOf(one.user))
      if (page === one.id) await removeDraft(client);
    for (const { page, id } of await keptUploads(one.user))
      if (page === one.id) await forgetUpload(id);
    await removePage(one.id);
  }
  others.postMessage("");
  await showLost();
}

let looking: ReturnType<typeof setInterval> | undefined;
/** A stream may not tell of a loss: a tab that is seen asks by itself for a while. */
export function look(): void {
  looking ??= setInterval(() => {
    const isSeen = document.visibilityState === "visible";
    if (isSeen && isOnline.value && userId()) void repeatLost(Date.now() - LOOKED_AFTER_MS);
  }, LOOK_MS);
}
