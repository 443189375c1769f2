import assert from "node:assert/strict";
import { test } from "node:test";
import { places } from "../../src/screens/around/uses";

const ID = "0b8f2a44-7a0e-4d0e-9c3d-0a1b2c3d4e5f";
const OTHER = "1b8f2a44-7a0e-4d0e-9c3d-0a1b2c3d4e5f";
const picture = (id: string) => ({ type: "image", attrs: { src: `/api/v1/attachments/${id}` } });
const link = (id: string) => ({
  type: "text",
  text: "the file",
  marks: [{ type: "link", attrs: { href: `/api/v1/attachments/${id}?download=true` } }],
});
const doc = (...content: unknown[]) => ({
  type: "doc",
  content: [{ type: "paragraph", content }],
});

test("pictures and links to a file are counted, those of others are not", () => {
  assert.equal(places(doc(picture(ID), link(ID), picture(OTHER), link(OTHER)), ID), 2);
});

test("a text that names the id alone does not use the file", () => {
  assert.equal(places(doc({ type: "text", text: ID }), ID), 0);
  assert.equal(places({ type: "doc", content: [], title: null }, ID), 0);
});
