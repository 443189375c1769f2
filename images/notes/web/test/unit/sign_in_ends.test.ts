// What is typed while a sign-in ends: it is stored for its user, unless what is stored is cleared.
import { disk, signedInAs, turns, until } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { effect } from "@preact/signals";
import { listen } from "../../src/api/client";
import { isCurrent } from "../../src/api/signed_in";
import { hide, refresh, signOut, start } from "../../src/app/session";
import { me, phase } from "../../src/app/store";
import { TYPED } from "../../src/app/typed";
import { outside, releases, sessions } from "../../src/editor/held";
import { resumed, Session } from "../../src/editor/session";
import { database, endSession } from "../../src/sync/database";
import { draftsOf, noteUnsent, removeDraft, take, whole } from "../../src/sync/drafts";
import { docWith, text, type } from "./log_server";

/** What the server says: who is signed in, and what becomes of an edit. */
const server = { user: "", posted: 0, answer: (_status: number): void => undefined };

globalThis.fetch = async (path, { method } = {}) => {
  if (String(path).endsWith("/edits") && method === "POST") {
    server.posted += 1;
    const status = await new Promise<number>((done) => Object.assign(server, { answer: done }));
    return Response.json({ detail: "Sign in first." }, { status });
  }
  if (method === "DELETE") return new Response(null, { status: 204 });
  const user = { id: server.user, email: "", name: "", is_admin: false, events_since: "" };
  if (path !== "/api/v1/me") return Response.json(path === "/api/v1/site" ? {} : []);
  return Response.json(user, { status: server.user ? 200 : 401 });
};
listen(
  () => void hide(),
  () => undefined,
);

async function signIn(user: string): Promise<void> {
  server.user = user;
  signedInAs(user);
  await refresh();
  assert.equal(me.value?.id, user);
}

/** An editor whose first key is on its way to the server, whose second is being stored, and whose third waits for that. */
async function busyEditor(): Promise<Session> {
  const live = { seq: 0, id: "0", title: "T", doc: docWith("one") };
  const made = new Session("p", "u", "c", live, outside(isCurrent()));
  sessions.set("p", made);
  releases.set(made, (await take("c")) as () => void);
  server.posted = 0;
  type(made, 1, "a");
  await until(() => server.posted);
  disk.isSlow = true;
  type(made, 2, "b");
  await turns();
  type(made, 3, "c");
  await turns();
  return made;
}

const left = () =>
  [...disk.stored].filter(([, rows]) => rows.length).map(([name, rows]) => [name, rows.length]);

/** The text of the draft of the user; undefined if there is none. */
async function stored(): Promise<string | undefined> {
  const draft = await whole("drafts", "c");
  const made = draft && resumed(draft, outside(isCurrent()));
  return made && text(made.state.doc);
}

beforeEach(async () => {
  disk.isSlow = false;
  await turns();
  disk.stored.clear();
});

test("what waits to be stored while the sign-in ends is there when it is back", async () => {
  await signIn("u");
  await busyEditor();
  server.answer(401);
  await turns();
  assert.deepEqual([phase.value, sessions.size], ["signed out", 0]);
  disk.isSlow = false;
  await signIn("u");
  assert.equal(await stored(), "abcone");
  const draft = await whole("drafts", "c");
  // Perhaps the server has accepted it before: then only the same batch again is known to it.
  assert.deepEqual([draft?.n, draft?.sending?.batch.n], [1, 1]);
});

test("nobody gets the draft of a session that has ended before all of it is stored", async () => {
  await signIn("u");
  await busyEditor();
  await Promise.race([hide(), turns()]);
  assert.deepEqual([sessions.size, await take("c")], [0, undefined]);
  disk.isSlow = false;
  let release: (() => void) | undefined;
  await until(async () => (release = await take("c")));
  assert.equal(await stored(), "abcone");
  release?.();
});

test("what is typed after another tab has hidden what is stored is there, too", async () => {
  await signIn("u");
  const session = await busyEditor();
  disk.isSlow = false;
  await endSession("u");
  type(session, 4, "d");
  await turns();
  assert.ok(session.isKept);
  await hide();
  await signIn("u");
  assert.equal(await stored(), "abcdone");
});

test("a sign-out that clears leaves nothing behind of what waits to be stored", async () => {
  await signIn("u");
  const session = await busyEditor();
  const leaving = signOut(true);
  await turns();
  disk.isSlow = false;
  await leaving;
  await turns();
  assert.deepEqual(left(), []);
  type(session, 4, "d");
  await turns();
  assert.deepEqual([left(), session.isKept], [[], false]);
});

test("in another tab, too, nothing is stored after a sign-out that clears", async () => {
  await signIn("u");
  const session = await busyEditor();
  disk.isSlow = false;
  await turns();
  // This tab has not heard of it yet.
  const sent = sessions.get("p");
  sessions.clear();
  await signOut(true);
  sessions.set("p", sent as Session);
  type(session, 4, "d");
  await turns();
  assert.deepEqual([left(), session.isKept], [[], false]);
});

test("nothing is stored for a user after another one has signed in", async () => {
  await signIn("u");
  const session = await busyEditor();
  server.user = "v";
  signedInAs("v");
  const signingIn = refresh();
  await turns();
  disk.isSlow = false;
  await signingIn;
  await turns();
  type(session, 4, "d");
  await turns();
  assert.equal(await stored(), "abone");
  // Without the cookie, too.
  signedInAs("");
  type(session, 5, "e");
  await turns();
  assert.equal(await stored(), "abone");
  assert.deepEqual([session.isKept, await draftsOf("v")], [false, []]);
});

test("nor while only the cookie tells of another one", async () => {
  await signIn("u");
  const session = await busyEditor();
  disk.isSlow = false;
  await endSession("u");
  await turns();
  signedInAs("v");
  type(session, 4, "d");
  await turns();
  assert.deepEqual([session.isKept, await stored()], [false, "abcone"]);
});

/** Has the browser a cookie of this name? Its value, then. */
const cookie = (name: string) => new RegExp(`(?:^|; )${name}=([^;]*)`).exec(document.cookie)?.[1];
const drafted = async (user: string, client: string) => {
  const draft = { client, user, page: "p", seq: 0, id: "0", title: "T", base: "0 0", passed: [] };
  const rest = { n: 0, steps: [], newTitle: null, sending: null };
  await (await database())?.put("drafts", { ...draft, ...rest });
};

test("the plain pages learn how much each person has not sent", async () => {
  await drafted("u", "a");
  await drafted("v", "b");
  await drafted("u", "c");
  noteUnsent();
  await until(() => cookie("notes-unsent") === "u:2.v:1");
  for (const client of ["a", "b", "c"]) await removeDraft(client);
  await until(() => cookie("notes-unsent") === "");
});

test("who has signed out on a plain page, and deletes, has nothing here before anything is shown", async () => {
  await signIn("u");
  const session = await busyEditor();
  disk.isSlow = false;
  type(session, 4, "d");
  await turns();
  await drafted("v", "other");
  sessionStorage.setItem(
    TYPED,
    JSON.stringify([
      ["u page", {}],
      ["v page", {}],
    ]),
  );
  document.cookie = "notes-left=u";
  // The tab is reloaded: the sign-in is there again, or without a network its cookie alone.
  sessions.clear();
  phase.value = "starting";
  server.user = "u";
  let shown: number | undefined;
  const stop = effect(() => {
    const theirs = disk.rows("drafts").filter(({ value }) => value.user === "u");
    if (phase.value !== "starting") shown ??= theirs.length;
  });
  await start();
  stop();
  assert.equal(shown, 0, "what is left when anything is shown");
  assert.deepEqual([(await draftsOf("u")).length, (await draftsOf("v")).length], [0, 1]);
  assert.equal(sessionStorage.getItem(TYPED), JSON.stringify([["v page", {}]]));
  assert.equal(cookie("notes-left"), "");
});

test("also where another person signs in first, whose own work stays", async () => {
  await signIn("u");
  const session = await busyEditor();
  disk.isSlow = false;
  type(session, 4, "d");
  await turns();
  await drafted("v", "other");
  document.cookie = "notes-left=u";
  await signIn("v");
  assert.deepEqual([(await draftsOf("u")).length, (await draftsOf("v")).length], [0, 1]);
  assert.equal(cookie("notes-left"), "");
});
