// The event stream of a browser: a connection whose other end is gone without a word is left.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { follow } from "../../src/api/events";
import type { LiveEvent } from "../../src/api/types";

class Source extends EventTarget {
  static CLOSED = 2;
  static all: Source[] = [];
  readyState = 1;
  onopen?: () => void;
  onerror?: () => void;
  constructor(readonly address: string) {
    super();
    Source.all.push(this);
  }
  close(): void {
    this.readyState = Source.CLOSED;
  }
  say(kind: string): void {
    this.dispatchEvent(new MessageEvent(kind, { data: "{}" }));
  }
}
Object.assign(globalThis, { EventSource: Source });
// Over plain HTTP there are no locks, and each tab has its own stream.
Object.defineProperty(globalThis, "navigator", { value: {} });

const told: string[] = [];
const last = (): Source => Source.all.at(-1) as Source;
let stop = (): void => undefined;

beforeEach(() => {
  stop();
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"] });
  Source.all.length = told.length = 0;
  stop = follow((event: LiveEvent) => told.push(event.kind), "1");
  last().onopen?.();
});

test("a stream that beats, and falls silent, is opened again from nothing", () => {
  for (let beat = 0; beat < 20; beat += 1) {
    last().say("beat");
    mock.timers.tick(15_000);
  }
  assert.equal(Source.all.length, 1);
  mock.timers.tick(40_000);
  assert.equal(Source.all.length, 2);
  assert.equal(Source.all[0]?.readyState, Source.CLOSED);
  assert.equal(last().address, "/api/v1/events", "what was missed is not known");
  last().say("hello");
  assert.deepEqual(told, ["reset"]);
});

test("a server of before tells no beat, and may be silent", () => {
  mock.timers.tick(600_000);
  assert.equal(Source.all.length, 1);
});

test("a connection that nobody answers is given up", () => {
  last().say("beat");
  mock.timers.tick(50_000);
  const waiting = Source.all.length;
  assert.equal(waiting, 2);
  mock.timers.tick(50_000);
  assert.equal(Source.all.length, 3);
});

test("nothing is opened again after the sign-in", () => {
  last().say("beat");
  stop();
  mock.timers.tick(600_000);
  assert.equal(Source.all.length, 1);
});
