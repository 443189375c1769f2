// A file on its way counts as a use of the workspace, and the tab asks before it is closed.
import { signedInAs } from "./browser";
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { beginSignIn } from "../../src/api/signed_in";
import { download } from "../../src/screens/transfer/download";
import { sendZip } from "../../src/screens/transfer/sending";

const asks = new Set<(event: Event) => void>();
const kept = new Map<string, string>();
Object.assign(globalThis, {
  addEventListener: (kind: string, act: () => void) => kind === "beforeunload" && asks.add(act),
  removeEventListener: (_: string, act: () => void) => asks.delete(act),
  localStorage: {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  },
});
Object.assign(document, { createElement: () => ({ click: () => undefined }) });

/** True if the tab would ask before it closes. */
function isAsked(): boolean {
  const event = new Event("beforeunload", { cancelable: true });
  for (const act of asks) act(event);
  return event.defaultPrevented;
}

/** What a request for a form tells of itself. */
class Form extends EventTarget {
  upload = new EventTarget();
  status = 201;
  responseText = '{"id": "job", "name": "a.zip"}';
  open = () => undefined;
  setRequestHeader = () => undefined;
  send(): void {
    const progress = Object.assign(new Event("progress"), { loaded: 3 });
    setTimeout(() => {
      this.upload.dispatchEvent(progress);
      this.dispatchEvent(new Event("loadend"));
    });
  }
}
Object.assign(globalThis, { XMLHttpRequest: Form });

const seen: unknown[] = [];
const hear = (bytes: number): unknown => seen.push([bytes, isAsked(), kept.has("notes-used")]);
const { signal } = new AbortController();
let now = Date.now();

beforeEach(() => {
  signedInAs("u");
  beginSignIn("u");
  kept.clear();
  seen.length = 0;
  mock.timers.reset();
  // More than the time in which a further use is not noted.
  mock.timers.enable({ apis: ["Date"], now: (now += 60_000) });
});

test("a download counts as use, and asks until it has ended", async () => {
  globalThis.fetch = async () => new Response("zip");
  assert.equal(await download("/x", "x.zip", signal, hear), 3);
  assert.deepEqual([seen, isAsked()], [[[3, true, true]], false]);
});

test("a download that fails asks no longer", async () => {
  globalThis.fetch = async () => Response.json({ detail: "No." }, { status: 403 });
  await assert.rejects(download("/x", "x.zip", signal, hear), { message: "No." });
  assert.equal(isAsked(), false);
});

test("an upload counts as use, and asks until it has ended", async () => {
  const file = new File(["zip"], "a.zip");
  assert.equal(await sendZip("s", "", file, signal, hear), "job");
  assert.deepEqual([seen[0], isAsked()], [[3, true, true], false]);
});
