import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, UnreachableError } from "../../src/api/client";
import { type Begun, FileUpload, type Wire } from "../../src/sync/upload";
import { mayPause, stateOf } from "../../src/sync/upload_state";

const MB = 1024 * 1024;
const quiet = new AbortController().signal;
const file = (size: number): File => new File([new Uint8Array(size)], "a.png");

/** A server that keeps what it is sent; `fail` may throw before a chunk is stored or after. */
function server(size: number, given: (number: number, isAfter: boolean) => void) {
  const made = { fail: given, isForgotten: false };
  const calls: string[] = [];
  let missing: number[] = [];
  const opened = () => ({ id: "u", chunk_size: 4 * MB, missing: [...missing] });
  const wire: Wire = {
    async open() {
      calls.push("open");
      missing = Array.from({ length: Math.ceil(size / (4 * MB)) }, (_, at) => at);
      return opened();
    },
    async form() {
      calls.push("form");
      made.fail(-1, false);
      return { id: "f", name: "a.png" };
    },
    async chunk(_page, { number, bytes }) {
      calls.push(`${number}:${bytes.size}`);
      made.fail(number, false);
      missing = missing.filter((one) => one !== number);
      made.fail(number, true);
      return missing.length ? opened() : { id: "u", name: "a.png" };
    },
    async state() {
      calls.push("state");
      if (made.isForgotten) throw new ApiError(404, "no upload");
      return opened();
    },
    giveUp: () => undefined,
    pause: async () => undefined,
  };
  return Object.assign(made, { wire, calls });
}

test("up to 8 MB a file goes as a form, above that in chunks", async () => {
  const small = server(8 * MB, () => undefined);
  assert.equal((await new FileUpload("p", file(8 * MB), small.wire).run(quiet, () => 0)).id, "f");
  assert.deepEqual(small.calls, ["form"]);
  const large = server(8 * MB + 1, () => undefined);
  let sent = 0;
  const found = await new FileUpload("p", file(8 * MB + 1), large.wire).run(quiet, (n) => {
    sent = n;
  });
  assert.equal(found.id, "u");
  assert.deepEqual(large.calls, ["open", `0:${4 * MB}`, `1:${4 * MB}`, "2:1"]);
  assert.equal(sent, 8 * MB + 1);
});

test("a form whose answer is lost is followed by chunks, which make one file", async () => {
  const one = server(10, (number) => {
    if (number === -1) throw new UnreachableError("p");
  });
  assert.equal((await new FileUpload("p", file(10), one.wire).run(quiet, () => 0)).id, "u");
  assert.deepEqual(one.calls, ["form", "open", "0:10"]);
});

test("only missing chunks are repeated, and a lost last answer is asked for again", async () => {
  let lost = 0;
  const one = server(12 * MB, (number, isAfter) => {
    if (number === 2 && isAfter && lost++ === 0) throw new UnreachableError("p");
  });
  const sending = new FileUpload("p", file(12 * MB), one.wire);
  assert.equal((await sending.run(quiet, () => 0)).id, "u");
  assert.equal(one.calls.filter((call) => call.startsWith("0:")).length, 1);
  assert.equal(one.calls.filter((call) => call.startsWith("2:")).length, 2);
});

test("after a reload only what the server does not have is sent", async () => {
  const one = server(12 * MB, (number, isAfter) => {
    if (number === 1 && !isAfter) throw new ApiError(422, "stop");
  });
  let begun: Begun | undefined;
  const sending = new FileUpload("p", file(12 * MB), one.wire, (how) => (begun = how));
  await assert.rejects(
    sending.run(quiet, () => 0),
    /stop/,
  );
  assert.deepEqual(begun, { id: "u", chunk_size: 4 * MB });
  one.fail = () => undefined;
  one.calls.length = 0;
  const again = new FileUpload("p", file(12 * MB), one.wire, () => undefined, begun);
  const told: number[] = [];
  assert.equal((await again.run(quiet, (bytes) => told.push(bytes))).id, "u");
  assert.deepEqual(one.calls, ["state", `1:${4 * MB}`]);
  assert.equal(told[0], 8 * MB);
  // The last answer was lost with the tab.
  one.calls.length = 0;
  one.isForgotten = true;
  await new FileUpload("p", file(12 * MB), one.wire, () => undefined, begun).run(quiet, () => 0);
  assert.deepEqual(one.calls, ["state", `0:${4 * MB}`]);
});

test("a refusal ends the upload at once; an upload that the server forgot begins anew", async () => {
  const refused = server(10, () => {
    throw new ApiError(413, "too large");
  });
  await assert.rejects(
    new FileUpload("p", file(10), refused.wire).run(quiet, () => 0),
    /too large/,
  );
  assert.deepEqual(refused.calls, ["form"]);
  let isForgotten = true;
  const gone = server(9 * MB, () => {
    if (isForgotten) {
      isForgotten = false;
      throw new ApiError(410, "expired");
    }
  });
  assert.equal((await new FileUpload("p", file(9 * MB), gone.wire).run(quiet, () => 0)).id, "u");
  assert.equal(gone.calls.filter((call) => call === "open").length, 2);
});

test("a file above 8 MB can wait: what has arrived is not sent again", async () => {
  assert.deepEqual([mayPause(8 * MB), mayPause(8 * MB + 1)], [false, true]);
  const stopping = new AbortController();
  const one = server(12 * MB, (number, isAfter) => {
    if (!isAfter && number > 0) stopping.abort();
    if (stopping.signal.aborted) throw new Error("aborted");
  });
  const sending = new FileUpload("p", file(12 * MB), one.wire);
  await assert.rejects(sending.run(stopping.signal, () => 0));
  assert.deepEqual(one.calls, ["open", `0:${4 * MB}`, `1:${4 * MB}`, `2:${4 * MB}`]);
  [one.fail, one.calls.length] = [() => undefined, 0];
  assert.equal((await sending.run(quiet, () => 0)).id, "u");
  assert.deepEqual(one.calls, [`1:${4 * MB}`, `2:${4 * MB}`]);
});

test("what an upload shows follows from its file, its failure and its pause", () => {
  const state = (hasFile: boolean, reason: string, isPaused: boolean) =>
    stateOf({ hasFile, reason, isPaused });
  assert.equal(state(true, "", false), "sending");
  assert.equal(state(true, "", true), "paused");
  assert.equal(state(true, "too large", false), "failed");
  assert.equal(state(false, "", true), "asked", "without the file one has to choose it first");
});
