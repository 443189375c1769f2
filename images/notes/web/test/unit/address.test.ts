// Tests that the browser refuses the addresses that the server refuses (`test_hostile_edits.py`).
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressFor } from "../../src/doc/address";

test("an address that could run code is none, whatever a browser leaves out before its scheme", () => {
  for (const one of [
    "javascript:alert(1)",
    " JaVaScript:alert(1)",
    "java\nscript:alert(1)",
    "\u0001 javascript:alert(1)",
    "\u0000\u0001 \u0002 data:text/html,1",
  ])
    assert.equal(addressFor(one), undefined, JSON.stringify(one));
  assert.equal(addressFor(" https://example.org/a b\u0001 "), "https://example.org/a%20b");
});
