import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tokens } from "../../src/doc/code";

const found = (text: string, language: string): string[] =>
  tokens(text, language).map(({ kind, from, to }) => `${kind} ${text.slice(from, to)}`);

test("words of a language are found, and none in texts and comments", () => {
  assert.deepEqual(found('return "if" // else\n', "js"), [
    "keyword return",
    'string "if"',
    "comment // else",
  ]);
  assert.deepEqual(found("x = '''a\n# b''' # c\nif 1.5e3:", "Python"), [
    "string '''a\n# b'''",
    "comment # c",
    "keyword if",
    "number 1.5e3",
  ]);
  assert.deepEqual(found("SELECT a FROM b -- c", "sql"), [
    "keyword SELECT",
    "keyword FROM",
    "comment -- c",
  ]);
  assert.deepEqual(found("a: true # b\nurl: x#y", "yaml"), ["keyword true", "comment # b"]);
  assert.deepEqual(found("echo $# 'a # b' # c", "sh"), ["string 'a # b'", "comment # c"]);
  assert.deepEqual(found("größer = ifs", "py"), []);
});

test("lines of a difference are added and removed", () => {
  assert.deepEqual(found(" a\n-b\n+c\n", "diff"), ["removed -b", "added +c"]);
});

test("an unknown language has no colours", () => {
  assert.deepEqual(found('if "x"', "klingon"), []);
  assert.deepEqual(found('if "x"', ""), []);
});

test("text without an end costs little", () => {
  const begun = process.cpuUsage();
  for (const one of ['"', "'''", "/*", "`", "\\", "0x", "<!--"])
    for (const language of ["js", "py", "sql", "html"]) tokens(one.repeat(50_000), language);
  assert.ok(process.cpuUsage(begun).user < 4_000_000);
});

/** The contrast of two colours (WCAG 2.2). */
function contrast(one: string, other: string): number {
  const light = (colour: string): number => {
    const wide = colour.length === 4 ? colour.replace(/[\da-f]/g, "$&$&") : colour;
    const [r, g, b] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(wide.slice(at, at + 2), 16) / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [less, more] = [light(one), light(other)].sort((a, b) => a - b) as [number, number];
  return (more + 0.05) / (less + 0.05);
}

test("the colours of code are readable, light and dark", () => {
  const style = readFileSync("src/style/tokens.css", "utf8");
  const grounds = [...style.matchAll(/--code: (#\w+);((?:\s+--code-\w+: #\w+;)+)/g)];
  assert.equal(grounds.length, 3);
  for (const [, ground, rest] of grounds) {
    const colours = [...(rest as string).matchAll(/--code-\w+: (#\w+);/g)];
    assert.equal(colours.length, 5);
    for (const [line, colour] of colours)
      assert.ok(contrast(ground as string, colour as string) >= 4.5, `${line} on ${ground}`);
  }
});
