// Changes of the tree against a server whose answers come when the test wants them.
import { disk, signedInAs, turns, until } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { UnreachableError } from "../../src/api/client";
import { beginSignIn, EndedError } from "../../src/api/signed_in";
import type { TreeNode } from "../../src/api/types";
import { change, showTitle } from "../../src/app/change_tree";
import { me, readTree, setTree, trees } from "../../src/app/store";
import { changed, type Move } from "../../src/app/tree_changes";

const node = (id: string, updated_at = "1"): TreeNode => ({
  ...{ id, parent_id: null, title: id, is_template: false, is_restricted: false, updated_at },
});
const move = (id: string, after: string | null): Move => ({
  ...{ kind: "move", id, from: "s", to: "s", parent: null, after, pages: [] },
});

/** What the server has, and the answers that wait: a move is done when it is answered, a tree is read when it is asked for. */
const server = { nodes: [] as TreeNode[], moves: [] as string[] };
let waiting: { what: string; answer: (given?: Response) => void }[] = [];

globalThis.fetch = (path, init) => {
  const read = Response.json(server.nodes);
  const what = init?.method === "GET" ? "tree" : String(path);
  if (what !== "tree") server.moves.push(what);
  return new Promise<Response>((done) => {
    waiting.push({ what, answer: (given) => done(given ?? read) });
  });
};

/** Answers the oldest request of a kind. */
async function answer(what: string, given?: Response): Promise<void> {
  await until(() => waiting.some((one) => one.what === what));
  const one = waiting.find((other) => other.what === what);
  waiting = waiting.filter((other) => other !== one);
  one?.answer(given);
  await turns();
}

const done = (): Response => new Response(null, { status: 204 });
const refused = (): Response =>
  Response.json({ detail: "That page is not a sibling at the new place." }, { status: 422 });
const shown = (): string => (trees.value.get("s")?.nodes ?? []).map((one) => one.title).join(" ");

/** Moves a page in the browser; the server does it when the request `id` is answered. */
function moved(id: string, after: string | null): Promise<unknown> {
  const send = async (): Promise<void> => {
    const found = await fetch(id, { method: "POST" });
    if (found.status === 503) throw new UnreachableError(id);
    if (!found.ok) throw new Error(((await found.json()) as { detail: string }).detail);
  };
  return change(move(id, after), ["s"], send);
}
const apply = (id: string, after: string | null): void => {
  server.nodes = changed("s", server.nodes, [move(id, after)]);
};

beforeEach(async () => {
  signedInAs("u");
  beginSignIn("u");
  me.value = { id: "u" } as never;
  disk.stored.clear();
  [waiting, server.moves] = [[], []];
  server.nodes = ["a", "b", "c", "d"].map((id) => node(id));
  trees.value = new Map();
  setTree("s", server.nodes);
});

test("a move is seen at once, and stays when the server has done it", async () => {
  const under = moved("d", null);
  assert.equal(shown(), "d a b c");
  apply("d", null);
  await answer("d", done());
  await under;
  assert.equal(shown(), "d a b c");
  await answer("tree");
  assert.equal(shown(), "d a b c");
  assert.equal(trees.value.get("s")?.served, undefined, "it is the server's tree again");
});

test("a refused move is taken back with the reason, and the tree is read", async () => {
  const under = moved("d", null);
  const ended = assert.rejects(under, /not a sibling/);
  server.nodes = server.nodes.filter((one) => one.id !== "b");
  await answer("d", refused());
  await ended;
  assert.equal(shown(), "a b c d");
  await answer("tree");
  assert.equal(shown(), "a c d");
});

test("two quick moves are sent one after the other, and both are seen", async () => {
  const [one, two] = [moved("d", null), moved("c", null)];
  assert.equal(shown(), "c d a b");
  await turns();
  assert.deepEqual(server.moves, ["d"], "the second one waits for the answer to the first");
  apply("d", null);
  await answer("d", done());
  assert.deepEqual(server.moves, ["d", "c"]);
  // The tree after the first move is there before the second one is answered.
  await answer("tree");
  assert.equal(shown(), "c d a b");
  apply("c", null);
  await answer("c", done());
  await answer("tree");
  await Promise.all([one, two]);
  assert.equal(shown(), "c d a b");
});

test("a refusal of the first of two takes back that one alone", async () => {
  const ended = assert.rejects(moved("d", null));
  const two = moved("c", null);
  await answer("d", refused());
  await ended;
  assert.equal(shown(), "c a b d");
  apply("c", null);
  await answer("c", done());
  await two;
  for (let reads = 0; reads < 2; reads += 1) await answer("tree");
  assert.equal(shown(), "c a b d");
});

test("a tree that comes for another person's event keeps the own move", async () => {
  const under = moved("d", null);
  apply("b", null);
  const heard = readTree("s");
  await answer("tree");
  await heard;
  assert.equal(shown(), "d b a c", "theirs is done, the own one is on its way");
  apply("d", null);
  await answer("d", done());
  // Now they move the same page: the server's order is what counts.
  apply("d", "c");
  await under;
  const later = readTree("s");
  await answer("tree");
  await answer("tree");
  await later;
  assert.equal(shown(), "b a c d");
});

test("a tree that was asked for before the answer, and comes late, takes nothing back", async () => {
  const early = readTree("s");
  await until(() => waiting.length === 1);
  const late = waiting.pop();
  const under = moved("d", null);
  apply("d", null);
  await answer("d", done());
  await under;
  late?.answer();
  await early;
  await turns();
  assert.equal(shown(), "d a b c");
  await answer("tree");
  assert.equal(shown(), "d a b c");
});

test("without a network the move is taken back", async () => {
  const ended = assert.rejects(moved("d", null), UnreachableError);
  assert.equal(shown(), "d a b c");
  await answer("d", new Response(null, { status: 503 }));
  await ended;
  assert.equal(shown(), "a b c d");
});

test("what waits when the sign-in ends is not sent, and not shown to the next user", async () => {
  const first = moved("d", null);
  const second = assert.rejects(moved("c", null), EndedError);
  await turns();
  beginSignIn("v");
  signedInAs("v");
  trees.value = new Map();
  await answer("d", done());
  await Promise.all([first, second]);
  assert.deepEqual(server.moves, ["d"]);
  setTree("s", server.nodes);
  assert.equal(shown(), "a b c d");
});

test("a title is seen at once, and ends with the page's next version", async () => {
  showTitle("b", "New");
  assert.equal(shown(), "a New c d");
  setTree("s", [node("a"), node("b", "2"), node("c")]);
  assert.equal(shown(), "a New c", "that version may be from before");
  showTitle("b", "New", true);
  setTree("s", [node("a"), { ...node("b", "3"), title: "Theirs" }]);
  assert.equal(shown(), "a Theirs");
  showTitle("b", "Mine");
  assert.equal(shown(), "a Mine");
  showTitle("b", undefined);
  assert.equal(shown(), "a Theirs", "a refused title is taken back");
});
