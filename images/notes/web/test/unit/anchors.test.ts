import assert from "node:assert/strict";
import { test } from "node:test";
import { find, flat, passage } from "../../src/screens/beside/anchors";

const TEXT = "We release on Tuesday.\nThe kitchen is cleaned on Tuesday, too.\nBring your own cup.";
const PLAIN = TEXT.replaceAll("\n", " ");
const shown = (text: string, quote: string, near?: number): string | undefined => {
  const found = find(text, quote, near);
  return found && `${text.slice(found.from, found.to)}${found.isChanged ? " (changed)" : ""}`;
};
const quoted = (from: number, to: number): string | undefined => {
  const place = passage(TEXT, { from, to });
  return place && TEXT.slice(place.from, place.to);
};

test("a quote is found where it is, whatever its white space", () => {
  assert.equal(shown(PLAIN, "kitchen  is\ncleaned"), "kitchen is cleaned");
  assert.equal(shown(PLAIN, "Tuesday.\nThe kitchen"), "Tuesday. The kitchen");
  assert.equal(shown(PLAIN, "never written anywhere"), undefined);
  assert.equal(shown(PLAIN, " \n "), undefined);
  assert.equal(flat(" a \u00a0 b\n"), "a b");
});

test("of several places the nearest is taken", () => {
  const [first, second] = [PLAIN.indexOf("Tuesday"), PLAIN.lastIndexOf("Tuesday")];
  assert.equal(find(PLAIN, "Tuesday")?.from, first);
  assert.equal(find(PLAIN, "Tuesday", second - 3)?.from, second);
});

test("a passage that was written in is found by its parts", () => {
  assert.equal(
    shown("We publish it on Tuesday. No release.", "We publish on Tuesday."),
    "We publish it on Tuesday. (changed)",
  );
  assert.equal(
    shown("x We release on Friday.", "We release on Tuesday."),
    "We release on (changed)",
  );
  assert.equal(
    shown("They release on Tuesday.", "We release on Tuesday."),
    "release on Tuesday. (changed)",
  );
  // Less than half of it is left, or it is too short to be known by a part.
  assert.equal(shown("We all eat lunch at twelve.", "We release the new version."), undefined);
  assert.equal(shown("on Monday", "on Friday"), undefined);
});

test("of the parts that are left, those with most of the passage are taken", () => {
  const text = PLAIN.replace("cleaned on", "cleaned every");
  assert.equal(shown(text, "cleaned on Tuesday"), "cleaned every Tuesday (changed)");
  assert.equal(
    shown("They meet. The team meets in the new room.", "The team meets in the kitchen."),
    "The team meets in the (changed)",
  );
});

test("a quote that is made to cost time is looked for in a while", () => {
  const text = "the the a ".repeat(20_000);
  const quote = `${"the the a b ".repeat(160)}end`;
  const began = process.cpuUsage().user;
  find(text, quote);
  assert.ok(process.cpuUsage().user - began < 1_000_000);
});

test("a part that is far away is not the end of the passage", () => {
  const text = `We release on Monday. ${"Other words. ".repeat(20)}and tell everybody.`;
  assert.equal(shown(text, "We release on Tuesday and tell everybody."), undefined);
});

test("the passage of a selection has no white space at its ends, and is there once", () => {
  const kitchen = TEXT.indexOf("kitchen");
  assert.equal(quoted(kitchen - 1, kitchen + 8), "kitchen");
  const second = TEXT.lastIndexOf("Tuesday");
  const wide = quoted(second, second + 7) ?? "";
  assert.ok(wide.includes("Tuesday") && PLAIN.split(wide).length === 2, wide);
  assert.ok(!wide.includes("\n"), wide);
  assert.equal(quoted(kitchen - 1, kitchen - 1), undefined);
});

test("a passage that cannot be told apart is quoted as it is, and at most 2,000 characters", () => {
  const text = "A line.\nA line.\nA line.";
  assert.deepEqual(passage(text, { from: 8, to: 14 }), { from: 8, to: 15 });
  const long = passage("y".repeat(5000), { from: 0, to: 5000 });
  assert.deepEqual(long, { from: 0, to: 2000 });
});
