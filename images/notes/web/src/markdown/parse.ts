/**
 * Reads Markdown into the same document as the server's import (doc/markdown_parser.py, doc/schema.py).
 *
 * It is loaded when it is first needed. Golden documents of the server judge it.
 */
import type { Doc, DocNode } from "../doc/types";
import { clean, normalLine, spaced, withoutBreaks } from "./line";
import { block as htmlBlock } from "./raw_html";
import { type Address, blocks as read } from "./read";
import { type Env, folded, parser, TooLongError } from "./rules";

const MAX_DEPTH = 40;
const MAX_NODES = 100_000;
const MAX_MS = 1_000;

/** The document of a text; undefined if it is too deep, too large or takes too long. */
export function parse(text: string, address: Address, ms = MAX_MS): Doc | undefined {
  const env: Env = { until: performance.now() + ms, labels: new Map() };
  try {
    const md = parser();
    const found = read(md.parse(text, env), (info) => md.utils.unescapeAll(info), address);
    return new Normal(found).doc();
  } catch (error) {
    if (error instanceof TooLongError) return undefined;
    throw error;
  }
}

const EMPTY: DocNode = { type: "paragraph" };
const paragraphOf = (content: DocNode[]): DocNode[] =>
  content.length ? [{ type: "paragraph", content }] : [];

class Normal {
  readonly #labels = new Map<string, string>();
  #nodes = 0;

  constructor(readonly found: readonly DocNode[]) {}

  doc(): Doc {
    const notes = this.found.filter((node) => node.type === "footnote");
    for (const { attrs } of notes)
      this.#labels.set(folded(String(attrs?.label)), String(attrs?.label));
    const blocks = this.#blocks(
      this.found.filter((node) => node.type !== "footnote"),
      1,
    );
    const footnotes = notes.map(({ attrs, content = [] }) => ({
      type: "footnote",
      attrs: { label: String(attrs?.label) },
      content: this.#withParagraph(content, 1),
    }));
    if (footnotes.length) end(blocks);
    return { type: "doc", content: [...(blocks.length ? blocks : [EMPTY]), ...footnotes] };
  }

  #blocks(nodes: readonly DocNode[], depth: number): DocNode[] {
    if (depth > MAX_DEPTH) throw new TooLongError();
    const found: DocNode[] = [];
    for (const node of nodes) {
      this.#count(1);
      const made = this.#block(node, depth);
      if (made.length) end(found);
      for (const one of made) found.push(one);
    }
    return found;
  }

  #count(nodes: number): void {
    this.#nodes += nodes;
    if (this.#nodes > MAX_NODES) throw new TooLongError();
  }

  #line(nodes: readonly DocNode[] = [], hasBreaks = true): DocNode[] {
    this.#count(nodes.length);
    return normalLine(nodes, this.#labels, hasBreaks);
  }

  #block(node: DocNode, depth: number): DocNode[] {
    const { type, content = [] } = node;
    if (type === "paragraph") return paragraphOf(this.#line(content));
    if (type === "heading") {
      const line = this.#line(content, false);
      const made = { type, attrs: { level: Number(node.attrs?.level) } };
      return [line.length ? { ...made, content: line } : made];
    }
    if (type === "blockquote") {
      const blocks = this.#blocks(content, depth + 1);
      return [{ type, content: blocks.length ? blocks : [EMPTY] }];
    }
    if (type === "codeBlock") return [code(node)];
    if (type === "htmlBlock") return html(sourceOf(node));
    if (type === "table") return this.#table(content, depth);
    return type.endsWith("List") ? this.#list(node, depth) : [{ type }];
  }

  #list({ type, attrs, content = [] }: DocNode, depth: number): DocNode[] {
    const isTasks =
      type === "bulletList" && content.every((item) => typeof item.attrs?.checked === "boolean");
    const items = content.map((item) => {
      this.#count(1);
      const checked = item.attrs?.checked;
      return {
        type: isTasks ? "taskItem" : "listItem",
        content: this.#withParagraph(item.content ?? [], depth),
        ...(typeof checked === "boolean" ? { attrs: { checked } } : {}),
      };
    });
    if (!items.length) return [];
    const made = { type: isTasks ? "taskList" : type, content: items };
    return [type === "orderedList" ? { ...made, attrs: { start: Number(attrs?.start) } } : made];
  }

  /** Blocks in normal form; the first is a paragraph, added empty if needed. */
  #withParagraph(nodes: readonly DocNode[], depth: number): DocNode[] {
    const blocks = this.#blocks(nodes, depth + 1);
    return blocks[0]?.type === "paragraph" ? blocks : [EMPTY, ...blocks];
  }

  #table(rows: readonly DocNode[], depth: number): DocNode[] {
    const read = rows.flatMap(({ content: cells = [] }) => {
      this.#count(1 + cells.length);
      const lines = cells.map(({ content = [], attrs }) => {
        const line = this.#blocks(content, depth + 1).flatMap((one) => one.content ?? []);
        return { line: withoutBreaks(line), align: attrs?.align };
      });
      return lines.length ? [lines] : [];
    });
    if (!read.length) return [];
    const width = read.reduce((most, row) => Math.max(most, row.length), 0);
    this.#count(width * read.length);
    const content = read.map((row, at) => ({
      type: "tableRow",
      content: Array.from({ length: width }, (_, column) => {
        const line = row[column]?.line ?? [];
        const align = read[0]?.[column]?.align;
        return {
          type: at === 0 ? "tableHeader" : "tableCell",
          content: [line.length ? { type: "paragraph", content: line } : EMPTY],
          ...(align ? { attrs: { align } } : {}),
        };
      }),
    }));
    return [{ type: "table", content }];
  }
}

const sourceOf = (node: DocNode): string => {
  const text = (node.content ?? []).map((one) => one.text ?? "").join("");
  return clean(text.replaceAll("\r\n", "\n").replaceAll("\r", "\n"), "\n\t");
};

function code(node: DocNode): DocNode {
  const text = sourceOf(node);
  const given = node.attrs?.language;
  const language = typeof given === "string" ? clean(given).replace(/[\s`]/g, "") : "";
  return {
    type: "codeBlock",
    ...(language ? { attrs: { language: [...language].slice(0, 40).join("") } } : {}),
    ...(text ? { content: [{ type: "text", text }] } : {}),
  };
}

/** HTML that Markdown would not read as one block becomes a code block. */
function html(text: string): DocNode[] {
  const [source] = htmlBlock(text);
  if (source) return [{ type: "htmlBlock", content: [{ type: "text", text: source }] }];
  if (!spaced(text).trim()) return [];
  return [{ type: "codeBlock", attrs: { language: "html" }, content: [{ type: "text", text }] }];
}

/** Completes a last HTML block that would otherwise include the blocks after it. */
function end(blocks: DocNode[]): void {
  const last = blocks.at(-1);
  const text = last?.type === "htmlBlock" ? last.content?.[0] : undefined;
  if (text) text.text = (text.text ?? "") + htmlBlock(text.text ?? "")[1];
}
