// A text whose page is gone, with its doubtful places behind it: a document that the server takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { plainText } from "../../src/doc/text";
import type { Doc, DocNode } from "../../src/doc/types";
import { docOf, nodeFrom } from "../../src/editor/schema";
import { keyOf, sumOf } from "../../src/screens/lost/key";
import { withPlaces } from "../../src/screens/lost/content";
import { docWith } from "./log_server";

const words = (text: string): DocNode => ({ type: "text", text });
const line = (...content: (string | DocNode)[]): DocNode => ({
  type: "paragraph",
  content: content.map((one) => (typeof one === "string" ? words(one) : one)),
});
const node = (type: string, ...content: DocNode[]): DocNode => ({ type, content });
const cell = (text: string, type = "tableCell"): DocNode => node(type, line(text));
const note = (label: string, ...content: DocNode[]): DocNode => ({
  ...{ type: "footnote", attrs: { label }, content },
});
const reference = (label: string): DocNode => ({ type: "footnoteReference", attrs: { label } });

const labelsOf = (doc: Doc): string[] =>
  doc.content.filter(({ type }) => type === "footnote").map(({ attrs }) => String(attrs?.label));

/** A document with places behind it, after the rules of the editor and of the server. */
function sound(doc: Doc, ...places: DocNode[][]): Doc {
  const made = withPlaces(doc, places);
  nodeFrom(made).check();
  assert.deepEqual(docOf(nodeFrom(made)), made);
  const labels = labelsOf(made).map((label) => label.toLowerCase());
  assert.deepEqual(labels, [...new Set(labels)]);
  assert.deepEqual(withPlaces(doc, places), made, "the same again");
  return made;
}

/** What is behind the words "one". */
const behind = (...mine: DocNode[]): DocNode[] => sound(docWith("one"), mine).content.slice(1);

test("blocks stay as they are, behind the text", () => {
  const mine = [line("a"), node("blockquote", line("b")), node("bulletList", node("listItem"))];
  mine.splice(2, 1, node("bulletList", node("listItem", line("c"))));
  assert.deepEqual(behind(...mine), mine);
  assert.deepEqual(behind(), []);
});

test("rows are a table, and cells a row of one", () => {
  const rows = [node("tableRow", cell("a", "tableHeader")), node("tableRow", cell("b"))];
  assert.deepEqual(behind(...rows), [node("table", ...rows)]);
  const cells = [cell("a", "tableHeader"), cell("b")];
  assert.deepEqual(behind(...cells), [node("table", node("tableRow", ...cells))]);
  assert.deepEqual(behind(line("x"), ...rows, line("y")), [
    line("x"),
    node("table", ...rows),
    line("y"),
  ]);
});

test("the rows and items of two places are not one table or list", () => {
  const [row, item] = [node("tableRow", cell("a")), node("listItem", line("b"))];
  assert.deepEqual(sound(docWith("one"), [row], [row], [item], [item]).content.slice(1), [
    node("table", row),
    node("table", row),
    node("bulletList", item),
    node("bulletList", item),
  ]);
});

test("items are a list, and tasks a list of tasks", () => {
  const items = [node("listItem", line("a")), node("listItem", line("b"))];
  assert.deepEqual(behind(...items), [node("bulletList", ...items)]);
  const task = (checked: boolean): DocNode => ({
    ...{ type: "taskItem", attrs: { checked }, content: [line("a")] },
  });
  assert.deepEqual(behind(task(true), task(false)), [node("taskList", task(true), task(false))]);
  assert.deepEqual(behind(...items, task(true)), [
    node("bulletList", ...items),
    node("taskList", task(true)),
  ]);
});

test("what stands in a line is a paragraph", () => {
  const bold = { ...words("b"), marks: [{ type: "bold" }] };
  const image = { type: "image", attrs: { src: "/a.png" } };
  const mine = [words("a"), bold, { type: "hardBreak" }, image, reference("1")];
  assert.deepEqual(behind(...mine), [line(...mine)]);
});

test("what a cut has left incomplete has all that it needs", () => {
  const list = node("bulletList", node("listItem", line("a")));
  assert.deepEqual(behind(node("listItem", list)), [
    node("bulletList", node("listItem", { type: "paragraph" }, list)),
  ]);
  assert.deepEqual(behind(node("tableRow", { type: "tableCell" }, cell("b"))), [
    node("table", node("tableRow", node("tableCell", { type: "paragraph" }), cell("b"))),
  ]);
});

test("a footnote is at the end, with a new label where its own is taken", () => {
  const first = line("one", reference("n"));
  const doc: Doc = { type: "doc", content: [first, note("n", line("theirs"))] };
  assert.deepEqual(sound(doc, [line("two", reference("N")), note("N", line("mine"))]).content, [
    first,
    line("two", reference("N-2")),
    note("n", line("theirs")),
    note("N-2", line("mine")),
  ]);
  // The same label in two places; a reference without its footnote is about that of the text.
  const again = [line("three", reference("n")), note("n", line("mine, too"))];
  const made = sound(doc, again, [line("four", reference("n"))], again);
  assert.deepEqual(labelsOf(made), ["n", "n-2", "n-3"]);
  assert.deepEqual(made.content.slice(0, 4), [
    first,
    line("three", reference("n-2")),
    line("four", reference("n")),
    line("three", reference("n-3")),
  ]);
});

test("a footnote that the text has lost keeps the label of its references", () => {
  const doc: Doc = { type: "doc", content: [line("one", reference("1"), reference("1-2"))] };
  assert.deepEqual(sound(doc, [note("1", line("mine"))]).content, [
    ...doc.content,
    note("1", line("mine")),
  ]);
  // A new label is none that stands for something else.
  assert.deepEqual(labelsOf(sound(doc, [note("1", line("a"))], [note("1", line("b"))])), [
    "1",
    "1-3",
  ]);
});

test("labels that the server takes for the same, or refuses, are others", () => {
  const notes = ["Straße", "STRASSE", "a b]", "\u200b", "x".repeat(70)].map((label) =>
    note(label, line("text")),
  );
  const doc: Doc = { type: "doc", content: [line("one", reference("a b]")), ...notes] };
  const made = sound(doc);
  assert.deepEqual(labelsOf(made), ["Straße", "STRASSE-2", "ab", "1", "x".repeat(60)]);
  assert.deepEqual(made.content[0], line("one", reference("ab")));
});

test("of what this version does not know the words are kept", () => {
  assert.deepEqual(behind(node("hologram", line("a"), line("b")), node("tableRow", line("c"))), [
    ...[line("a"), line("b"), line("c")],
  ]);
  assert.equal(plainText(sound(docWith("one"), [node("hologram")])), "one");
});

test("the key of a text is the same again, another text's another, also without digests", async () => {
  const isId = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
  const subtle = crypto.subtle;
  for (const found of [subtle, undefined]) {
    Object.defineProperty(crypto, "subtle", { value: found, configurable: true });
    const keys = new Set<string>();
    for (let at = 0; at < 500; at += 1) {
      const text = JSON.stringify(["client", "Title", docWith(`words ${at}`)]);
      const key = await keyOf(text);
      assert.match(key, isId);
      assert.equal(await keyOf(text), key);
      // The server makes the page's id of the first half alone.
      keys.add(key.slice(0, 18));
    }
    assert.equal(keys.size, 500);
  }
  Object.defineProperty(crypto, "subtle", { value: subtle, configurable: true });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  assert.equal(sumOf(bytes("a")), "d228cb696f1a8caf78912b704e4a8964");
  assert.equal(sumOf(bytes("foobar")), "343e1662793c64bf6f0d3597ba446f18");
});
