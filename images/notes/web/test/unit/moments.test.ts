import assert from "node:assert/strict";
import { test } from "node:test";
import { beforeOf, momentAsked, momentsPath } from "../../src/screens/around/moment_asked";

test("the address says which moment is asked for, and what it is compared with", () => {
  assert.equal(momentAsked("?version=2"), undefined);
  assert.deepEqual(momentAsked("?moment=all"), {});
  assert.deepEqual(momentAsked("?moment=0"), { seq: 0 });
  assert.deepEqual(momentAsked("?moment=7&since=3"), { seq: 7, since: 3 });
  assert.deepEqual(momentAsked("?moment=7&since=now"), { seq: 7, since: "now" });
  for (const odd of ["7&since=7", "7&since=9", "7&since=-1", "7&since=x"])
    assert.deepEqual(momentAsked(`?moment=${odd}`), { seq: 7 });
  for (const odd of ["-1", "1e3", "9".repeat(16), "<b>"])
    assert.deepEqual(momentAsked(`?moment=${encodeURIComponent(odd)}`), {});
  for (const [seq, since] of [
    [7, 3],
    [7, "now"],
    [0, undefined],
  ] as const)
    assert.deepEqual(momentAsked(momentsPath("x", seq, since).split("/history")[1] ?? ""), {
      seq,
      ...(since === undefined ? {} : { since }),
    });
});

test("before a moment is the end of the burst before, or the edit before", () => {
  const burst = (first: number, seq: number) => ({ first, seq, begun_at: "", at: "", authors: [] });
  const kept = { first: 4, last: 30, days: 30, bursts: [burst(21, 30), burst(11, 20)] };
  assert.deepEqual(
    [30, 25, 20, 11, 9, 5, 4].map((seq) => beforeOf(kept, seq)),
    [20, 20, 10, 10, 8, 4, undefined],
  );
});
