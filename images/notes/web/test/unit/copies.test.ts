// When the stored copy of a picture is shown: where the server does not answer, and not where it refuses.
import { disk, signedInAs } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { beginSignIn } from "../../src/api/signed_in";
import { keepSession } from "../../src/sync/database";
import { copyOf } from "../../src/sync/pictures";

const asked: string[] = [];
let answer: () => Promise<Response>;
globalThis.fetch = (path, init) => {
  asked.push(`${init?.method} ${path}`);
  return answer();
};

beforeEach(async () => {
  signedInAs("u");
  beginSignIn("u");
  disk.stored.clear();
  await keepSession({ me: { id: "u" } as never, isActive: true });
  const page = { id: "p", user: "u", bytes: 30, pictures: 10 };
  disk.rows("pages").push({ key: "p", value: page });
  const blob = new Blob(["0123456789"]);
  disk.rows("pictures").push({ key: "x", value: { id: "x", user: "u", page_id: "p", blob } });
  asked.length = 0;
});

const left = (): unknown[] => [disk.rows("pictures").length, disk.rows("pages")[0]?.value.bytes];

test("without an answer, or a database, the copy is shown", async () => {
  answer = () => Promise.reject(new TypeError("no network"));
  assert.equal((await copyOf("x"))?.size, 10);
  for (const status of [200, 429, 500, 503]) {
    answer = async () => new Response(null, { status });
    assert.equal((await copyOf("x"))?.size, 10, String(status));
  }
  assert.equal(asked[0], "HEAD /api/v1/attachments/x");
});

test("the copy of a picture that the server refuses is not shown, and goes", async () => {
  answer = async () => new Response(null, { status: 404 });
  assert.equal(await copyOf("x"), undefined);
  assert.deepEqual(left(), [0, 20]);
});

test("after the end of a session the copy is not shown, and stays", async () => {
  answer = async () => new Response(null, { status: 401 });
  assert.equal(await copyOf("x"), undefined);
  assert.deepEqual(left(), [1, 30]);
});

test("nothing is asked about a picture that is not stored", async () => {
  assert.equal(await copyOf("y"), undefined);
  assert.deepEqual(asked, []);
});
