// Files that wait for a page which is gone, or takes them no more: listed, to be saved on the device or deleted.
import { signedInAs, until } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { editing } from "../../src/app/editing";
import { refresh } from "../../src/app/session";
import { giveUp as giveUpRequest } from "../../src/screens/beside/requests";
import { files, keptBytes, removeFiles } from "../../src/screens/lost/files";
import { giveUp, showTexts, texts } from "../../src/screens/lost/texts";
import { database } from "../../src/sync/database";
import { keepFile, keepUpload, keptUploads } from "../../src/sync/kept_files";
import type { KeptRequest } from "../../src/sync/stored";
import { docWith } from "./log_server";

const server = { isReached: true };

globalThis.fetch = async (path) => {
  const user = { id: "u", email: "", name: "", is_admin: false, events_since: "" };
  if (path === "/api/v1/me") return Response.json(user);
  if (!server.isReached) throw new TypeError("no network");
  const page = /nodes\/(\w+)$/.exec(String(path))?.[1];
  if (page === "gone") return Response.json({ detail: "There is no such page." }, { status: 404 });
  const role = page === "read" ? "viewer" : "editor";
  if (page) return Response.json({ id: page, role, trashed_at: page === "trash" ? "now" : null });
  return Response.json(path === "/api/v1/site" ? {} : []);
};

const place = { seq: 0, id: "0", pos: 0, isExact: true };
async function waits(page: string, id = page): Promise<void> {
  const one = { id, user: "u", page, name: `${id}.txt`, size: 5, type: "text/plain", place };
  assert.ok(await keepUpload(one));
  assert.ok(await keepFile(one, new File(["words"], one.name)));
}
/** A text whose page is gone, as it is stored. */
async function lostText(client: string, page: string): Promise<void> {
  const draft = { client, user: "u", page, seq: 0, id: "0", title: "T", base: "0 0", passed: [] };
  const rest = { n: 0, steps: [], newTitle: "N", sending: null, lost: "gone" };
  await (await database())?.put("drafts", { ...draft, ...rest });
  await (await database())?.put("bases", { client, base: "0 0", doc: docWith("one") });
}

const unsent = () => /notes-unsent=([^;]*)/.exec(document.cookie)?.[1];
const stored = async () => (await keptUploads("u")).map(({ page }) => page).sort();
const listed = () => files.value.map(({ page }) => page).sort();

beforeEach(async () => {
  signedInAs("u");
  await refresh();
  for (const name of ["uploads", "files", "drafts", "bases"] as const)
    await (await database())?.clear(name);
  [files.value, texts.value, editing.value] = [[], [], ""];
  server.isReached = true;
});

test("files of pages that are gone, or take them no more, are listed until they are deleted", async () => {
  for (const page of ["gone", "fine", "read", "trash"]) await waits(page);
  await showTexts();
  assert.deepEqual(listed(), ["gone", "read", "trash"]);
  const one = files.value.find(({ page }) => page === "gone");
  assert.ok(one);
  assert.deepEqual([one.name, one.size, one.reason], ["gone.txt", 5, "There is no such page."]);
  assert.equal(await (await keptBytes(one)).text(), "words");
  await until(() => unsent() === "u:4");
  await removeFiles([one]);
  assert.deepEqual(
    [listed(), await stored()],
    [
      ["read", "trash"],
      ["fine", "read", "trash"],
    ],
  );
  await assert.rejects(keptBytes(one), /no room/);
  await until(() => unsent() === "u:3");
});

test("without a network the list stays as it was", async () => {
  await waits("gone");
  await showTexts();
  server.isReached = false;
  await waits("read");
  await showTexts();
  assert.deepEqual(listed(), ["gone"]);
});

test("with a text that is given up go the files of its page, which is gone", async () => {
  await waits("gone");
  await waits("gone", "second");
  await waits("fine");
  await lostText("a", "gone");
  await lostText("b", "fine");
  await showTexts();
  for (const client of ["a", "b"]) {
    const one = texts.value.find((text) => text.client === client);
    assert.ok(one);
    await giveUp(one);
  }
  assert.deepEqual([listed(), await stored()], [[], ["fine"]]);
  await until(() => unsent() === "u:1");
});

test("with a page that is given up go its files", async () => {
  await waits("made");
  await waits("fine");
  await giveUpRequest({ key: "k", user: "u", kind: "page", id: "made" } as KeptRequest);
  assert.deepEqual(await stored(), ["fine"]);
  await until(() => unsent() === "u:1");
});
