/** The replies that are being written: one whose thread is gone becomes the text of a new comment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser";
import { me } from "../../src/app/store";
import { drafts, noteDraft } from "../../src/screens/beside/drafts";
import { hasReply, moveReplies } from "../../src/screens/beside/replies";

me.value = { id: "ada" } as NonNullable<typeof me.value>;
const people = [{ id: "bob", name: "Bob" }];

test("a reply moves to the new comment of its page when its thread is gone", () => {
  noteDraft("ada reply t1", { text: "@Bob yes", people, page: "p", quote: "a passage" });
  noteDraft("ada reply t2", { text: "there", people: [], page: "p" });
  noteDraft("ada reply t3", { text: "elsewhere", people: [], page: "q" });
  noteDraft("bob reply t1", { text: "his", people: [], page: "p" });
  assert.ok(hasReply("t1"));
  assert.equal(moveReplies("p", new Set(["t2"])), "a passage");
  assert.deepEqual(drafts.get("ada new p"), { text: "@Bob yes", people, page: "p" });
  assert.ok(!hasReply("t1"));
  assert.deepEqual([...drafts.keys()].sort(), [
    "ada new p",
    "ada reply t2",
    "ada reply t3",
    "bob reply t1",
  ]);
  assert.equal(moveReplies("p", new Set(["t2"])), undefined);
});

test("it takes nothing from a comment that is being written, and an empty one moves nothing", () => {
  noteDraft("ada new p", { text: "First.", people: [], page: "p" });
  noteDraft("ada reply t2", { text: "Second.", people, page: "p" });
  assert.equal(moveReplies("p", new Set()), "");
  assert.deepEqual(drafts.get("ada new p"), { text: "First.\n\nSecond.", people, page: "p" });
  noteDraft("ada reply t4", { text: " ", people: [], page: "p" });
  assert.equal(moveReplies("p", new Set()), undefined);
  assert.ok(!hasReply("t4"));
});
