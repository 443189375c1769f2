/**
 * Texts whose pages are gone, or take them no more: kept in this browser until their person saves them as new pages, or
 * gives them up.
 *
 * Invariant: a text is deleted here only after the server has made a page of it, or by its person; and should a
 * failover lose that page in turn, the text is here again.
 */
import { signal } from "@preact/signals";
import { Step } from "prosemirror-transform";
import { request } from "../../api/client";
import { EndedError, isCurrent, load } from "../../api/signed_in";
import type { LiveView, PageNode } from "../../api/types";
import { doubted } from "../../app/editing";
import { hasLost } from "../../app/comments";
import { makeId } from "../../app/presence";
import { saveOnDevice } from "../../app/save_file";
import { userId } from "../../app/store";
import { plainText } from "../../doc/text";
import type { Doc } from "../../doc/types";
import { ending } from "../../editor/given_up";
import { isDamaged, writtenIn } from "../../editor/damaged";
import { docOf, nodeFrom, schema } from "../../editor/schema";
import { applied } from "../../editor/session";
import { writeFor } from "../../sync/database";
import {
  doubtsOf,
  draftsOf,
  editsOf,
  forget,
  noteUnsent,
  removeDoubt,
  removeDraft,
  whole,
} from "../../sync/drafts";
import type { Draft } from "../../sync/stored";
import { withPlaces } from "./content";
import { files, type LostFile, removeFiles, showFiles } from "./files";
import { keyOf } from "./key";
import { lostWords, ready } from "./words";

/** A text, and the sessions whose words are in it. */
export interface Text {
  client: string;
  /** Older sessions, whose words are all in this text: they are not shown, and end with it. */
  within: string[];
  user: string;
  page: string;
  title: string;
  space: string;
  /** The reason, in the server's words unless the draft is damaged. */
  reason: string;
  isDamaged: boolean;
  text: string;
}

export const texts = signal<readonly Text[]>([]);
const others = new BroadcastChannel("notes-lost-texts");
others.onmessage = (message: MessageEvent<string[]>) => void left(message.data);

function after(draft: Draft): Doc {
  let doc = nodeFrom(draft.doc);
  for (const json of [...draft.passed, ...draft.steps]) {
    doc = applied(Step.fromJSON(schema, json), doc);
  }
  return docOf(doc);
}

/** A draft of which the content may be missing; undefined if it is not stored any more. */
async function storedDraft(client: string): Promise<Draft | undefined> {
  const found = await whole("drafts", client);
  const left = found ? undefined : (await draftsOf(userId())).find((one) => one.client === client);
  return found ?? (left && { ...left, doc: { type: "doc", content: [] } });
}

/** The content of a draft with the doubtful places of its page behind it, of which nobody can decide any more. */
async function contentOf(draft: Draft): Promise<Doc> {
  const made = isDamaged(draft) ? writtenIn(draft.steps) : after(draft);
  const doubts = (await doubtsOf(draft.user)).filter((one) => one.page === draft.page);
  return withPlaces(
    made,
    doubts.map((one) => one.mine),
  );
}

/** True if the words of a text are all in a newer one of the same page. */
async function isWithin(one: Draft, newer: Draft): Promise<boolean> {
  if (one.steps.length || one.newTitle !== null || one.page !== newer.page) return false;
  if (one.seq > newer.seq) return false;
  const edits = await editsOf(newer.client);
  return (
    newer.id === one.id || edits.some(({ id, before }) => one.id === id || one.id === before.id)
  );
}

/**
 * Shows the texts of the user, then the files; what a newer text has as well is not shown twice.
 *
 * It stays in the store all the same: should the page come back without its words, each session sends its own.
 */
export async function showTexts(): Promise<void> {
  const user = userId();
  const found: Draft[] = [];
  for (const { client, lost } of await draftsOf(user)) {
    const draft = await storedDraft(client);
    if (draft && (lost || isDamaged(draft))) found.push(draft);
  }
  await ready();
  // The newest first; with the same edits, the one that has more.
  found.sort((a, b) => b.seq - a.seq || b.steps.length - a.steps.length);
  const shown = new Map<Draft, Text>();
  for (const draft of found) {
    let text: Text | undefined;
    for (const [newer, its] of shown) text ??= (await isWithin(draft, newer)) ? its : undefined;
    if (text) text.within.push(draft.client);
    else text = await textOf(draft);
    shown.set(draft, text);
  }
  texts.value = [...new Set(shown.values())];
  if (found.length) hasLost.value = true;
  await showFiles();
}

async function textOf(draft: Draft): Promise<Text> {
  const { client, user, page, newTitle, title, space = "" } = draft;
  const lost = draft.lost ?? lostWords.value.damaged;
  const text = plainText(await contentOf(draft));
  return {
    ...{ client, within: [], user, page, space, text },
    ...{ title: newTitle ?? title, reason: lost, isDamaged: !draft.lost },
  };
}

async function remove(client: string): Promise<void> {
  await removeDraft(client);
  await forget(client);
}

/** A text is not here any more: the editors that have it end, and the list is read again. */
async function left(clients: readonly string[]): Promise<void> {
  for (const client of clients) ending.client(client);
  await showTexts();
}

/** True if nothing was written in a draft since it was read. */
const isAsSent = (now: Draft, sent: Draft): boolean => changing(now) === changing(sent);
const changing = ({ base, passed, steps, newTitle }: Draft): string =>
  JSON.stringify([base, passed, steps, newTitle]);

/** Removes a text, and the older ones within it; not what its person has written meanwhile in one of them. */
async function leave(one: Text, sent?: Draft): Promise<void> {
  const now = await storedDraft(one.client);
  const isMore = sent && now && !isAsSent(now, sent);
  const newest = sent ?? now;
  const clients = isMore ? [] : [one.client];
  for (const client of one.within) {
    const older = await whole("drafts", client);
    if (!older || !newest || (await isWithin(older, newest))) clients.push(client);
  }
  for (const client of clients) await remove(client);
  const isLast = !(await draftsOf(one.user)).some(({ page }) => page === one.page);
  const open = (await doubtsOf(one.user)).filter(({ page }) => page === one.page);
  if (isLast) for (const { id } of open) await removeDoubt(id);
  doubted.value = new Set((await doubtsOf(one.user)).map(({ page }) => page));
  noteUnsent();
  others.postMessage(clients);
  await left(clients);
}

/** Makes a page of a text in a space; its id. Throws if that is refused, or another tab has done it. */
export async function saveAsNew(one: Text, space: string): Promise<string> {
  const isSame = isCurrent();
  const draft = await storedDraft(one.client);
  if (!isSame()) throw new EndedError(one.page);
  if (!draft) {
    await showTexts();
    throw new Error(lostWords.value.elsewhere);
  }
  // By the key, a second try after a lost answer finds the page that the first one made of this very text.
  const doc = await contentOf(draft);
  const key = await keyOf(JSON.stringify([one.client, one.title, doc]));
  const body = { title: one.title, doc, key };
  const made = await request<PageNode>("POST", `/api/v1/spaces/${space}/nodes`, { body });
  await follow(made, one);
  await leave(one, draft);
  return made.id;
}

/** What a file system takes in no name, or reads otherwise. */
const NO_NAME = /[\\/:*?"<>|\p{Cc}\p{Cs}]+/gu;

/** Saves a text on the device as plain text: for that one needs neither a network nor a space to write in. */
export async function saveAsFile(one: Text): Promise<string> {
  const draft = await storedDraft(one.client);
  const text = draft ? plainText(await contentOf(draft)) : one.text;
  const stem = [...one.title.replace(NO_NAME, " ").trim()].slice(0, 60).join("");
  const name = `${stem || "text"}.txt`;
  saveOnDevice(new Blob([`${one.title}\n\n${text}\n`], { type: "text/plain" }), name);
  return name;
}

/** The files that go with a text: those of its page, if that takes none and the text is the last one of it. */
export const filesWith = (one: Text): readonly LostFile[] =>
  texts.value.some(({ page, client }) => page === one.page && client !== one.client)
    ? []
    : files.value.filter(({ page }) => page === one.page);

/** Gives a text up, and the files that go with it. */
export async function giveUp(one: Text): Promise<void> {
  const its = filesWith(one);
  await leave(one);
  if (its.length) await removeFiles(its);
}

/** Remembers the new page: should a failover lose it, its text is in the list again. */
async function follow({ id: page, space_id: space }: PageNode, { user }: Text): Promise<void> {
  const live = await load<LiveView>(`/api/v1/nodes/${page}/live`, () => undefined);
  const { seq, id, title, doc } = live;
  const [client, base] = [makeId(), `${seq} ${id}`];
  const session = { client, user, page, seq, id, title, base, space, passed: [], steps: [] };
  const rest = { n: 0, newTitle: null, sending: null, isWhole: true, at: Date.now() };
  await writeFor(user, async (work) => {
    await work.objectStore("bases").put({ client, base, doc });
    await work.objectStore("remembered").put({ ...session, ...rest });
  });
}
