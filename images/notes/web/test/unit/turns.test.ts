// Answers of one address that overtake each other: the request that was sent last has the word.
import { signedInAs } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { beginSignIn, EndedError, load } from "../../src/api/signed_in";

const asked: ((answer: Response) => void)[] = [];
globalThis.fetch = () => new Promise<Response>((answer) => asked.push(answer));

const answer = (turn: number, word: string): void => asked[turn]?.(Response.json([word]));

beforeEach(() => {
  asked.length = 0;
  signedInAs("u");
  beginSignIn("u");
});

test("an answer that a later one overtook changes nothing, and is not stored", async () => {
  const shown: string[][] = [];
  const first = load<string[]>("/api/v1/tree", (one) => shown.push(one));
  const second = load<string[]>("/api/v1/tree", (one) => shown.push(one));
  answer(1, "new");
  assert.deepEqual(await second, ["new"]);
  answer(0, "old");
  assert.deepEqual(await first, ["new"], "who stores it stores the newest");
  assert.deepEqual(shown, [["new"], ["new"]], "each caller has an answer");
  const third = load<string[]>("/api/v1/tree", (one) => shown.push(one));
  answer(2, "newer");
  assert.deepEqual(await third, ["newer"]);
});

test("answers of other addresses, and in their order, are used as they come", async () => {
  const shown: string[] = [];
  const all = ["/api/v1/a", "/api/v1/b", "/api/v1/a"].map((path) =>
    load<string[]>(path, ([one]) => shown.push(one ?? "")),
  );
  ["a", "b", "later a"].forEach((word, turn) => answer(turn, word));
  await Promise.all(all);
  assert.deepEqual(shown.sort(), ["a", "b", "later a"]);
});

test("the next sign-in gets nothing of what the former one asked", async () => {
  const first = load<string[]>("/api/v1/tree", () => assert.fail("of another sign-in"));
  beginSignIn("v");
  signedInAs("v");
  const second = load<string[]>("/api/v1/tree", () => undefined);
  answer(0, "of u");
  await assert.rejects(first, EndedError);
  answer(1, "of v");
  assert.deepEqual(await second, ["of v"]);
});
