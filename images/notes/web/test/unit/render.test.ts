import assert from "node:assert/strict";
import { test } from "node:test";
import { isLive, slug } from "../../src/doc/address";
import { render } from "../../src/doc/render";
import { headings, pictures, plainText } from "../../src/doc/text";
import type { Doc } from "../../src/doc/types";
import golden from "../golden/documents.json";
import { html } from "./html";

/** HTML without what makes no difference: line ends between tags, and how quotes are written. */
const same = (text: string): string =>
  text
    .replace(/>\n/g, ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#x27;", "'")
    .replaceAll("&#39;", "'");

for (const { name, doc, html: expected } of golden as { name: string; doc: Doc; html: string }[]) {
  test(`the browser's HTML is the server's: ${name}`, () => {
    assert.equal(same(html(render(doc))), same(expected));
  });
}

test("an address becomes a link only if its scheme is harmless", () => {
  for (const url of ["/p/1", "https://a.example", "mailto:a@b.example", "a/b:c"])
    assert.ok(isLive(url), url);
  for (const url of ["javascript:x", "JaVaScRiPt:x", "data:text/html,x", "file:///x"])
    assert.ok(!isLive(url), url);
});

test("an anchor has letters, digits, - and _ only", () => {
  assert.equal(slug("Größe & Maß_1 x"), "größe--maß_1-x");
});

test("headings, text and pictures of a document", () => {
  const file = "01234567-89ab-cdef-0123-456789abcdef";
  const doc: Doc = {
    type: "doc",
    content: [
      { type: "heading", attrs: { level: 1 }, content: [{ type: "text", text: "A" }] },
      { type: "heading", attrs: { level: 1 }, content: [{ type: "text", text: "A" }] },
      { type: "heading", attrs: { level: 3 }, content: [{ type: "text", text: "deep" }] },
      {
        type: "paragraph",
        content: [{ type: "image", attrs: { src: `/api/v1/attachments/${file}` } }],
      },
    ],
  };
  assert.deepEqual(
    headings(doc).map((one) => one.id),
    ["a", "a-1"],
  );
  assert.deepEqual(pictures(doc), [file]);
  assert.match(plainText(doc), /^A\nA\ndeep/);
});
