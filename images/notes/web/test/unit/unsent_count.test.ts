// Which pages have edits that are not sent: each page once, and those that somebody has to decide about not at all.
import { disk, signedInAs, until } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { WAITING } from "../../src/sync/stored";
import { noteUnsent, unsent } from "../../src/sync/unsent_count";

const put = (name: string, key: string, value: object): void =>
  void disk.rows(name).push({ key, value: { user: "u", ...value } });

const asked = { count: 0, isGiven: false };
const local = new Map<string, string>();
Object.defineProperty(navigator, "storage", {
  value: {
    persisted: async () => asked.isGiven,
    persist: async () => Boolean((asked.count += 1)),
  },
});
Object.assign(localStorage, {
  getItem: (name: string) => local.get(name) ?? null,
  setItem: (name: string, value: string) => void local.set(name, value),
});

beforeEach(() => {
  asked.count = 0;
  local.clear();
  disk.stored.clear();
  signedInAs("u");
});

test("pages with unsent edits, files and comments are told, each once", async () => {
  put("drafts", "a", { client: "a", page: "p", title: "Old", newTitle: "New" });
  put("drafts", "b", { client: "b", page: "p", title: "New", newTitle: null });
  put("drafts", "c", { client: "c", page: "lost", title: "Lost", newTitle: null, lost: "gone" });
  put("uploads", "f", { id: "f", page: "q", name: "a.png" });
  put("requests", "r", { key: "r", kind: "post", page: "r", title: "R", doubt: WAITING });
  put("requests", "s", { key: "s", kind: "post", page: "s", title: "S", doubt: "" });
  put("requests", "t", { key: "t", kind: "post", page: "t", title: "T", doubt: "It is refused." });
  put("drafts", "d", { client: "d", page: "o", title: "Other", newTitle: null, user: "other" });
  noteUnsent();
  await until(() => unsent.value.get("u"));
  assert.deepEqual(
    [...(unsent.value.get("u") ?? [])],
    [
      ["p", "New"],
      ["q", "a.png"],
      ["r", "R"],
    ],
  );
  assert.deepEqual([...(unsent.value.get("other")?.keys() ?? [])], ["o"]);
});

test("what is sent soon is not told of, and what is sent at last no more", async () => {
  await until(async () => (noteUnsent(), !unsent.value.size));
  put("drafts", "a", { client: "a", page: "p", title: "P", newTitle: null });
  noteUnsent();
  await new Promise((done) => setTimeout(done, 1000));
  assert.equal(unsent.value.size, 0);
  await until(() => unsent.value.size);
  disk.rows("drafts").splice(0);
  // Another tab has sent it: this one hears of that without being told.
  await until(() => !unsent.value.size);
});

test("with the first edit that is not sent the browser is asked once to keep its store", async () => {
  await until(async () => (noteUnsent(), !unsent.value.size));
  put("drafts", "a", { client: "a", page: "p", title: "P", newTitle: null });
  noteUnsent();
  await until(() => asked.count);
  put("drafts", "b", { client: "b", page: "q", title: "Q", newTitle: null });
  noteUnsent();
  await until(() => unsent.value.get("u")?.size === 2);
  assert.equal(asked.count, 1);
  asked.isGiven = true;
  local.clear();
  noteUnsent();
  await until(() => local.size);
  assert.equal(asked.count, 1, "what the browser has granted is not asked for");
});
