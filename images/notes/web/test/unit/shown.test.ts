import assert from "node:assert/strict";
import { test } from "node:test";
import { schema } from "../../src/editor/schema";
import { gaps, guess, merged, styleOf } from "../../src/editor/shown";

test("ranges that touch become one, within the page, with its first and last block", () => {
  assert.deepEqual(
    merged(100, [
      [-5, 10],
      [11, 20],
      [50, 60],
      [55, 58],
    ]),
    [
      [0, 20],
      [50, 60],
      [99, 99],
    ],
  );
  assert.deepEqual(merged(3, [[-40, 40]]), [[0, 2]]);
  assert.deepEqual(
    gaps([
      [0, 20],
      [50, 60],
      [99, 99],
    ]),
    [
      [21, 49],
      [61, 98],
    ],
  );
});

test("the style hides exactly what is between, and keeps its height free, on screens only", () => {
  const style = styleOf(
    "b > ",
    [
      [0, 20],
      [50, 99],
    ],
    ([from, to]) => (to - from + 1) * 10.04,
  );
  assert.equal(
    style,
    `@media screen{b > :nth-child(n+22):nth-child(-n+50){display:none}
b > :nth-child(51){margin-block-start:291px}}`,
  );
  assert.equal(
    styleOf("b > ", [[0, 99]], () => 1),
    "@media screen{}",
  );
});

test("a block with more text is guessed higher, a row is as high as one line", () => {
  const of = (text: string) => schema.node("paragraph", null, [schema.text(text)]);
  assert.ok(guess(of("x".repeat(1000))) > guess(of("x")));
  const row = schema.node(
    "tableRow",
    null,
    [1, 2, 3].map(() => schema.node("tableCell", null, [of("x")])),
  );
  assert.equal(guess(row), guess(of("x")));
});
