// "Save as a new page" for a text whose page is gone, in a browser that came over plain HTTP.
import { signedInAs } from "./browser";
import assert from "node:assert/strict";
import { test } from "node:test";
import { isCurrent } from "../../src/api/signed_in";
import { refresh } from "../../src/app/session";
import type { Doc, DocNode } from "../../src/doc/types";
import { outside } from "../../src/editor/held";
import { nodeFrom } from "../../src/editor/schema";
import { Session } from "../../src/editor/session";
import { saveAsNew, showTexts, texts } from "../../src/screens/lost/texts";
import { writeFor } from "../../src/sync/database";
import { draftsOf, keepDraft } from "../../src/sync/drafts";
import { docWith, type } from "./log_server";

interface Sent {
  title: string;
  doc: Doc;
  key: string;
}
const sent: Sent[] = [];
let isReached = false;

globalThis.fetch = async (path, { method, body } = {}) => {
  const user = { id: "u", email: "", name: "", is_admin: false, events_since: "" };
  if (path === "/api/v1/me") return Response.json(user);
  if (method === "POST" && path === "/api/v1/spaces/s/nodes") {
    sent.push(JSON.parse(String(body)));
    if (!isReached) throw new TypeError("the answer is lost");
    return Response.json({ id: "new", space_id: "s" });
  }
  if (String(path).endsWith("/live")) return Response.json({ seq: 0, id: "0", title: "T" });
  return Response.json(path === "/api/v1/site" ? {} : []);
};

/** A text whose page is gone, with what was written at a doubtful place. */
async function lost(client: string, words: string, mine: readonly DocNode[]): Promise<void> {
  const live = { seq: 0, id: "0", title: "T", doc: docWith(words) };
  const kept: Parameters<typeof keepDraft>[0][] = [];
  const around = {
    ...outside(isCurrent()),
    keep: async (one: (typeof kept)[0]) => !kept.push(one),
  };
  const made = new Session(client, "u", client, live, around);
  type(made, 1, "x");
  made.stop();
  await new Promise((done) => setTimeout(done));
  const last = kept.at(-1) as (typeof kept)[0];
  await keepDraft({ ...last, draft: { ...last.draft, lost: "not found" } });
  const place = { user: "u", page: client, mine: [...mine], seq: 0, edit: "0", isExact: true };
  await writeFor("u", (work) =>
    work.objectStore("doubts").put({ id: client, ...place, from: 0, to: 0 }),
  );
}

test("a text with a row that has lost its table is saved, and a repeat makes no second page", async () => {
  Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
  signedInAs("u");
  await refresh();
  const cell = { type: "tableCell", content: docWith("mine").content };
  const row = { type: "tableRow", content: [cell] };
  await lost("c", "one", [row]);
  await lost("d", "two", []);
  await showTexts();
  assert.equal(texts.value.length, 2);
  const save = (client: string): Promise<string> => {
    const found = texts.value.find((one) => one.client === client);
    assert.ok(found);
    return saveAsNew(found, "s");
  };
  await assert.rejects(save("c"));
  await assert.rejects(save("d"));
  // As after a new start.
  texts.value = [];
  await showTexts();
  isReached = true;
  assert.equal(await save("c"), "new");
  const [first, other, again] = sent as [Sent, Sent, Sent];
  assert.deepEqual(first.doc.content.at(-1), { type: "table", content: [row] });
  nodeFrom(first.doc).check();
  assert.deepEqual(again, first);
  assert.notEqual(other.key.slice(0, 18), first.key.slice(0, 18));
  assert.deepEqual(
    (await draftsOf("u")).map(({ client }) => client),
    ["d"],
  );
});
