import assert from "node:assert/strict";
import { test } from "node:test";
import { pauseOf } from "../../src/app/steady";

test("a server that was there for a minute returns with its first answer", () => {
  assert.equal(pauseOf(0, 60_000), 0);
  assert.equal(pauseOf(8_000, 60_000), 0);
});

test("one that comes and goes returns later each time, up to a limit", () => {
  const pauses: number[] = [];
  let pause = 0;
  for (let time = 0; time < 6; time += 1) pauses.push((pause = pauseOf(pause, 500)));
  assert.deepEqual(pauses, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});
