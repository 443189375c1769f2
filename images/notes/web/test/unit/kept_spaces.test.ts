// All pages of a space are kept on a device: also more than those that are stored of what was read.
import { disk, signedInAs, until } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { beginSignIn } from "../../src/api/signed_in";
import type { PageNode, TreeNode } from "../../src/api/types";
import { keepSession, keepValue } from "../../src/sync/database";
import { keepTree, notKept, storedNotKept } from "../../src/sync/kept_trees";
import { room, tooMany } from "../../src/sync/limits";
import { keepPage } from "../../src/sync/offline";
import { docWith } from "./log_server";

const NOBODY: ReadonlySet<string> = new Set();
const server = {
  ...{ read: [] as string[], version: "1", isOpen: Promise.resolve() },
  isReached: true,
};

const nodeOf = (id: string): PageNode =>
  ({
    ...{ id, space_id: "s", title: id, role: "viewer", updated_at: server.version },
    doc: docWith("words"),
  }) as PageNode;

globalThis.fetch = async (path) => {
  const id = String(path).split("/").at(-1) ?? "";
  server.read.push(id);
  await server.isOpen;
  if (!server.isReached) throw new TypeError("no network");
  return Response.json(nodeOf(id));
};

const pages = (count: number): TreeNode[] =>
  Array.from(
    { length: count },
    (_, n) => ({ id: `p${n}`, updated_at: server.version }) as TreeNode,
  );

/** Stores the first pages of the space without reading them, as an earlier visit has. */
function storedBefore(count: number): void {
  for (const { id } of pages(count)) {
    const node = nodeOf(id);
    const page = { id, user: "u", space_id: "s", node, text: "", bytes: 10, readAt: 1 };
    disk.rows("pages").push({ key: id, value: page });
  }
}

beforeEach(async () => {
  disk.stored.clear();
  disk.refuses = () => undefined;
  server.isReached = true;
  server.read = [];
  signedInAs("u");
  beginSignIn("u");
  await keepSession({ me: { id: "u" } as never, isActive: true });
  await keepValue("kept spaces", "u", ["s"]);
});

test("a space of more than 500 pages is kept whole, and read once", async () => {
  storedBefore(495);
  await keepTree("s", pages(510), "u", NOBODY);
  assert.equal(disk.rows("pages").length, 510);
  assert.equal(server.read.length, 15);
  await keepTree("s", pages(510), "u", NOBODY);
  assert.equal(server.read.length, 15, "nothing is missing");
  await keepPage(nodeOf("p0"), "u", NOBODY);
  assert.equal(disk.rows("pages").length, 510, "a page that is read takes no other one's room");
});

test("trees that come while a space is read are kept after it, the newest one alone", async () => {
  const first = keepTree("s", pages(8), "u", NOBODY);
  const others = [7, 9, 10].map((count) => keepTree("s", pages(count), "u", NOBODY));
  await Promise.all([first, ...others]);
  assert.deepEqual(
    [...server.read].sort(),
    pages(10)
      .map(({ id }) => id)
      .sort(),
  );
});

test("a space that is kept no longer is not read on", async () => {
  let open = (): void => undefined;
  server.isOpen = new Promise((done) => {
    open = done;
  });
  const reading = keepTree("s", pages(30), "u", NOBODY);
  await until(() => server.read.length);
  await keepValue("kept spaces", "u", []);
  open();
  await reading;
  assert.ok(server.read.length < 30, String(server.read.length));
});

test("pages of kept spaces have limits of their own, below which none is added", () => {
  const most = { pages: 2, bytes: 100 };
  const mostKept = { pages: 3, bytes: 100 };
  const one = (id: string, space_id: string, readAt: number, bytes = 1) => ({
    ...{ id, space_id, bytes, readAt },
  });
  const kept = [one("a", "s", 1), one("b", "s", 2), one("c", "s", 3)];
  const read = [one("x", "t", 4), one("y", "t", 5), one("z", "t", 6)];
  const spaces = new Set(["s"]);
  const removed = (all: typeof kept, favoured = NOBODY): string[] =>
    tooMany(all, favoured, spaces, most, mostKept);
  assert.deepEqual(removed([...kept, ...read]), ["x"]);
  assert.deepEqual(removed([...kept, ...read], new Set(["x"])), ["y"]);
  assert.deepEqual(removed([...kept, one("d", "s", 7)]), ["a"]);
  assert.equal(room([...kept, ...read], spaces, mostKept).pages, 0);
  assert.equal(room([one("a", "s", 1, 10), ...read], spaces, mostKept).pages, 2);
  assert.ok(room([one("a", "s", 1, 97)], spaces, mostKept).bytes <= 0, "no room is left to fill");
});

test("what could not be kept of a space is noted with its reason, until it is kept", async () => {
  const said = async () => [notKept.value.get("s"), await storedNotKept("s", "u")];
  const both = (now: unknown) => [now, now];
  disk.refuses = (name) =>
    name === "pages" && disk.rows("pages").length >= 5
      ? new DOMException("no room", "QuotaExceededError")
      : undefined;
  await keepTree("s", pages(12), "u", NOBODY);
  assert.deepEqual(await said(), both({ pages: 7, why: "room" }));
  disk.refuses = () => undefined;
  server.isReached = false;
  await keepTree("s", pages(12), "u", NOBODY);
  assert.deepEqual(await said(), both({ pages: 7, why: "failed" }));
  server.isReached = true;
  await keepTree("s", pages(12), "u", NOBODY);
  assert.deepEqual(await said(), both(undefined));
});

test("pages beyond the limit of all kept spaces are noted as such; of other spaces none is", async () => {
  storedBefore(5000);
  await keepTree("s", pages(5003), "u", NOBODY);
  assert.deepEqual(notKept.value.get("s"), { pages: 3, why: "limit" });
  await keepTree("other", [{ id: "x", updated_at: "1" } as TreeNode], "u", NOBODY);
  assert.equal(notKept.value.has("other"), false);
});

test("a store without room for the tree itself is noted, too", async () => {
  disk.refuses = () => new DOMException("no room", "QuotaExceededError");
  await assert.rejects(keepTree("s", pages(2), "u", NOBODY), { name: "QuotaExceededError" });
  assert.deepEqual(notKept.value.get("s"), { pages: 2, why: "room" });
});
