import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState } from "prosemirror-state";
import type { Doc, DocNode } from "../../src/doc/types";
import { looksLikeMarkdown, relabelled } from "../../src/editor/pasted";
import { inPlace } from "../../src/editor/pasted_blocks";
import { docOf, nodeFrom } from "../../src/editor/schema";
import { addressFor } from "../../src/doc/address";
import { parse as read } from "../../src/markdown/parse";
import golden from "../golden/documents.json";
import { pasted } from "../pasting";

const parse = (text: string, ms?: number) => read(text, addressFor, ms);
const GOLDEN = golden as unknown as { name: string; markdown: string; doc: Doc }[];
for (const { name, markdown, doc } of GOLDEN) {
  test(`Markdown is read as the server reads it: ${name}`, () => {
    assert.deepEqual(parse(markdown, 10_000), doc);
    assert.deepEqual(pasted(markdown), doc);
  });
}

const p = (text: string): DocNode => ({ type: "paragraph", content: [{ type: "text", text }] });
const texts = (node: DocNode): string =>
  node.text ?? (node.content ?? []).map(texts).join(node.type === "doc" ? "|" : "");

/** The document with Markdown pasted over the only `@` of it. */
function over(content: DocNode[], markdown: string): Doc | undefined {
  const doc = nodeFrom({ type: "doc", content } as Doc);
  let at = -1;
  doc.descendants((node, pos) => {
    if (node.isText && node.text?.includes("@")) at = pos + node.text.indexOf("@");
  });
  const tr = inPlace(
    EditorState.create({ doc }),
    { from: at, to: at + 1 },
    parse(markdown) as Doc,
    relabelled,
  );
  tr?.doc.check();
  return tr && docOf(tr.doc);
}

test("blocks are put between the halves of a paragraph, lines into it", () => {
  assert.equal(texts(over([p("a@b")], "# T\n\n- x") as Doc), "a|T|x|b");
  assert.equal(texts(over([p("a@b")], "**x**") as Doc), "axb");
  assert.equal(texts(over([p("a@b")], "one\n\ntwo") as Doc), "aone|twob");
});

test("items that are pasted into a list become its items", () => {
  const item = (text: string): DocNode => ({ type: "listItem", content: [p(text)] });
  const list = { type: "bulletList", content: [item("a"), item("@"), item("b")] };
  const made = over([list], "- x\n- y") as Doc;
  assert.deepEqual(made.content[0]?.content?.map(texts), ["a", "x", "y", "b"]);
});

test("a cell of a table takes a line, and no blocks", () => {
  const cell = (type: string, text: string): DocNode => ({ type, content: [p(text)] });
  const row = (...content: DocNode[]): DocNode => ({ type: "tableRow", content });
  const table = {
    type: "table",
    content: [row(cell("tableHeader", "h")), row(cell("tableCell", "@"))],
  };
  assert.equal(texts(over([table], "**x**") as Doc), "hx");
  assert.equal(over([table], "# x\n\n- y"), undefined);
});

test("footnotes go to the end, with labels of their own", () => {
  const note: DocNode = { type: "footnote", attrs: { label: "n" }, content: [p("mine")] };
  const made = over([p("a@b"), note], "x[^n]\n\n[^n]: theirs\n") as Doc;
  const labels = made.content.slice(-2).map((one) => one.attrs?.label);
  assert.deepEqual([labels, texts(made)], [["n", "n-2"], "axb|mine|theirs"]);
  assert.equal(made.content[0]?.content?.[1]?.attrs?.label, "n-2");
});

test("what is probably Markdown is told from text", () => {
  for (const text of [
    "# Title",
    "text\n\n## Part\n",
    "- a\n- b",
    "1. a\n\n   more\n\n2. b",
    "- [ ] open",
    "> quoted",
    "```js\nx\n```",
    "| a | b |\n| - | :-: |\n| 1 | 2 |",
    "see [this](https://a.example/x)",
    "some **bold** words",
    "call `x()` here",
    "Title\n=====",
    "a[^1]\n\n[^1]: b",
  ])
    assert.equal(looksLikeMarkdown(text), true, text);
  for (const text of [
    "plain words",
    "- one line",
    "https://a.example/x_y_z",
    "2 * 3 * 4 = 24",
    "a_b_c and d__e__f",
    "#!/bin/sh\n# comment\n",
    "#hashtag",
    "C:\\dir\\[x](y z)",
    "5 > 3",
    "",
  ])
    assert.equal(looksLikeMarkdown(text), false, text);
});

test("an address that could run code is no link", () => {
  const made = JSON.stringify(
    parse(
      "[a](javascript:alert(1)) [b](<JaVa\tScript:x>) ![c](data:text/html,x) <vbscript:x>\n\n" +
        "[d][e]\n\n[e]: javascript:x\n\n<a href='javascript:x'>f</a> [g](&#106;avascript:x)",
    ),
  );
  assert.doesNotMatch(made, /"href":"(java|vb|data)/i);
  assert.doesNotMatch(made, /"src"/);
});

/** The processor time of some work, in milliseconds. */
function cost(work: () => unknown): number {
  const begun = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

/** Ten times the parser's own limit: a busy machine makes also the same work cost more. */
const MOST_MS = 10_000;
/** Long enough to tell a cost that grows with the square of the length. */
const LONG = 100_000;
const HOSTILE =
  "> |- |[|*a |`|<|![](|~a~ |[^a]: |www.|@|a@b.|&amp;|\\|<!--|*_|[a](|1. |# |\t|://|``` |[^|_a*";

test("a hostile text takes a bounded time, and stays text if it takes longer", () => {
  for (const part of [...HOSTILE.split("|"), "| ", "|-"]) {
    for (const end of ["", "\n"]) {
      const name = JSON.stringify(part + end);
      const text = (part + end).repeat(Math.floor(LONG / (part.length + end.length)));
      const [looked, read] = [cost(() => looksLikeMarkdown(text)), cost(() => parse(text))];
      assert.ok(looked < MOST_MS, `${name}: looked at for ${looked} ms`);
      assert.ok(read < MOST_MS, `${name}: read for ${read} ms`);
    }
  }
});

test("what is too deep stays text", () => {
  assert.equal(parse(`${">".repeat(60)} x`), undefined);
  assert.notEqual(parse(`${">".repeat(20)} x`), undefined);
});
