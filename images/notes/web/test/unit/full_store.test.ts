// The store of the browser is full, or would be: pictures count, and copies make room for words that are not sent.
import { disk, signedInAs, until } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { beginSignIn } from "../../src/api/signed_in";
import type { PageNode } from "../../src/api/types";
import type { Doc } from "../../src/doc/types";
import { keepSession, keepValue } from "../../src/sync/database";
import { keepDraft, type Keeping } from "../../src/sync/drafts";
import { keepPage, storedPage } from "../../src/sync/offline";
import type { StoredPage } from "../../src/sync/stored";
import { docWith } from "./log_server";

const NOBODY: ReadonlySet<string> = new Set();
const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const [RED, BLUE] = [idOf(1), idOf(2)];
let size = 1000;

globalThis.fetch = async () =>
  new Response(new Uint8Array(size), { headers: { "content-length": String(size) } });

function nodeWith(id: string, space_id: string, ...pictures: string[]): PageNode {
  const image = (one: string) => ({ type: "image", attrs: { src: `/api/v1/attachments/${one}` } });
  const content = pictures.map((one) => ({ type: "paragraph", content: [image(one)] }));
  const doc = { type: "doc", content } as Doc;
  return { id, space_id, doc, title: id, role: "viewer" } as PageNode;
}

const keys = (name: string): string[] => disk.rows(name).map(({ key }) => String(key));
const pageOf = async (id: string): Promise<StoredPage> => (await storedPage(id, "u")) as StoredPage;

beforeEach(async () => {
  disk.stored.clear();
  disk.refuses = () => undefined;
  size = 1000;
  signedInAs("u");
  beginSignIn("u");
  await keepSession({ me: { id: "u" } as never, isActive: true });
});

test("the pictures of a page count as its bytes, and those that its text has no more go", async () => {
  await keepPage(nodeWith("p", "s"), "u", NOBODY);
  const bare = await pageOf("p");
  await keepPage(nodeWith("p", "s", RED, BLUE), "u", NOBODY);
  const both = await pageOf("p");
  assert.deepEqual([both.pictures, both.bytes > bare.bytes + 2000], [2000, true]);
  await keepPage(nodeWith("p", "s", RED, BLUE), "u", NOBODY);
  assert.equal((await pageOf("p")).bytes, both.bytes, "what is stored already counts once");
  await keepPage(nodeWith("p", "s", BLUE), "u", NOBODY);
  assert.deepEqual([keys("pictures"), (await pageOf("p")).pictures], [[BLUE], 1000]);
});

test("pages with large pictures make room for those that are read later", async () => {
  size = 9_000_000;
  for (let page = 1; page < 4; page += 1) {
    const own = [1, 2, 3, 4, 5].map((n) => idOf(page * 10 + n));
    await keepPage(nodeWith(`p${page}`, "s", ...own), "u", NOBODY);
    await new Promise((done) => setTimeout(done, 2));
  }
  assert.deepEqual(keys("pages"), ["p2", "p3"]);
  assert.equal(keys("pictures").length, 10);
});

const keeping = (): Keeping => ({
  draft: {
    ...{ client: "c", user: "u", page: "p", seq: 0, id: "0", title: "T", base: "0", n: 0 },
    ...{ passed: [], steps: [{}], newTitle: null, sending: null, doc: docWith("one") },
  },
  ...{ isSent: false, cut: undefined, oldest: undefined, fresh: [], doubts: [] },
});
const full = (): Error => new DOMException("no room", "QuotaExceededError");

/** A page of a space that is kept and one of another, each with a picture. */
async function copies(): Promise<void> {
  await keepValue("kept spaces", "u", ["kept"]);
  await keepPage(nodeWith("p", "kept", RED), "u", NOBODY);
  await keepPage(nodeWith("q", "other", BLUE), "u", NOBODY);
}

test("words find room that pictures have taken, and the pages stay", async () => {
  await copies();
  const { bytes } = await pageOf("p");
  disk.refuses = (name) => (name === "drafts" && keys("pictures").length ? full() : undefined);
  assert.equal(await keepDraft(keeping()), true);
  assert.deepEqual([keys("drafts"), keys("pictures"), keys("pages")], [["c"], [], ["p", "q"]]);
  await until(async () => (await pageOf("p")).bytes === bytes - 1000);
});

test("words find room that pages have taken; those of a kept space stay", async () => {
  await copies();
  disk.refuses = (name) => (name === "drafts" && keys("pages").length > 1 ? full() : undefined);
  assert.equal(await keepDraft(keeping()), true);
  assert.deepEqual([keys("drafts"), keys("pages")], [["c"], ["p"]]);
});

test("without room for them at all, or for another reason, it is said as before", async () => {
  await copies();
  disk.refuses = (name) => (name === "drafts" ? new DOMException("no", "DataError") : undefined);
  await assert.rejects(keepDraft(keeping()), { name: "DataError" });
  assert.deepEqual(
    [keys("pages"), keys("pictures")],
    [
      ["p", "q"],
      [RED, BLUE],
    ],
  );
  disk.refuses = (name) => (name === "drafts" ? full() : undefined);
  await assert.rejects(keepDraft(keeping()), { name: "QuotaExceededError" });
});
