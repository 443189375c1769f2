// Where what is typed is searched: at the server, and in the stored pages only while it is not reached.
import { disk, signedInAs } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { ApiError } from "../../src/api/client";
import { beginSignIn, EndedError } from "../../src/api/signed_in";
import { hitsOf } from "../../src/app/finding";
import { me } from "../../src/app/store";
import { docWith } from "./log_server";

let answer: (signal: AbortSignal | undefined) => Promise<Response>;
globalThis.fetch = (_path, init) => answer(init?.signal ?? undefined);

/** How often something was read from the store. */
let read = 0;
const begin = disk.begin;
disk.begin = (work) => {
  read += 1;
  begin(work);
};

beforeEach(() => {
  signedInAs("u");
  beginSignIn("u");
  me.value = { id: "u" } as never;
  const node = { id: "p", space_id: "s", title: "Harvest", doc: docWith("corn") };
  const page = { id: "p", user: "u", space_id: "s", node, text: "corn", bytes: 1, readAt: 1 };
  disk.stored.clear();
  disk.rows("pages").push({ key: "p", value: page });
  read = 0;
});

const searched = (signal = new AbortController().signal) => hitsOf("corn", "", signal);

test("without a network, or a database, the stored pages are searched", async () => {
  answer = () => Promise.reject(new TypeError("no network"));
  assert.deepEqual(
    (await searched()).map(({ id }) => id),
    ["p"],
  );
  answer = async () => new Response("", { status: 503 });
  assert.deepEqual(
    (await searched()).map(({ id }) => id),
    ["p"],
  );
});

test("a refusal is an error, and not what the store has", async () => {
  for (const status of [400, 429, 500]) {
    answer = async () => Response.json({ detail: "No." }, { status });
    await assert.rejects(
      searched(),
      (error) => error instanceof ApiError && error.message === "No.",
    );
  }
  assert.equal(read, 0);
});

test("a search that the next letter ends reads nothing", async () => {
  const stop = new AbortController();
  answer = (signal) =>
    new Promise((_, fail) => signal?.addEventListener("abort", () => fail(signal.reason)));
  const ended = assert.rejects(searched(stop.signal), EndedError);
  stop.abort();
  await ended;
  assert.equal(read, 0);
});
