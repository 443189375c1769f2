/** The mentions of comments: how they are stored, written, and found while one types. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf, stored, typedAt, writable } from "../../src/screens/beside/mentions";

const id = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;

test("a comment comes back from its writer as it was", () => {
  const body = `Ask [@Ada B.](mention:${id(1)}), [@Ada](mention:${id(2)}) or [@x](mention:1).`;
  const { text, people } = writable(body);
  assert.equal(text, "Ask @Ada B., @Ada or [@x](mention:1).");
  assert.equal(stored(text, people), body);
  assert.deepEqual(partsOf(`a[@b](mention:${id(1)})`), [{ text: "a" }, { text: "@b", id: id(1) }]);
  assert.deepEqual(partsOf(""), []);
});

test("only the chosen people are mentioned, and no part of a longer word", () => {
  const ada = [{ id: id(1), name: "Ada" }];
  const body = stored("@Ada, @Adam, mail@Ada and @Bob", ada);
  assert.equal(body, `[@Ada](mention:${id(1)}), @Adam, mail@Ada and @Bob`);
  assert.equal(stored("@Ada", []), "@Ada");
  const two = [...ada, { id: id(2), name: "Ada" }];
  assert.equal(stored("@Ada @Ada", two), `[@Ada](mention:${id(1)}) [@Ada](mention:${id(2)})`);
  const odd = [{ id: id(3), name: "A [b]\nc*" }];
  assert.equal(stored("@A b c*!", odd), `[@A b c*](mention:${id(3)})!`);
});

test("a name is looked for behind an @ that begins a word", () => {
  assert.deepEqual(typedAt("Hi @Ada B", 9), { at: 3, typed: "Ada B" });
  assert.deepEqual(typedAt("@", 1), { at: 0, typed: "" });
  for (const text of ["a@b", "@ a", "@a\nb", `@${"a".repeat(60)}`, "none"])
    assert.equal(typedAt(text, text.length), undefined, text);
});
