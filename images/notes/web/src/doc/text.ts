/** Derives plain text, headings and pictures from a document. */
import { fileOf, slug } from "./address";
import type { Doc, DocNode } from "./types";

export interface Heading {
  level: number;
  id: string;
  text: string;
}

/** Gives headings anchors, each one once, in the order of the document. */
export class Anchors {
  #used = new Map<string, number>();

  of(node: DocNode): string {
    const base = slug((node.content ?? []).map((child) => child.text ?? "").join(""));
    let made = base;
    if (!base) return "";
    while (this.#used.has(made)) {
      const count = (this.#used.get(base) ?? 0) + 1;
      this.#used.set(base, count);
      made = `${base}-${count}`;
    }
    this.#used.set(made, 0);
    return made;
  }
}

function* walk(node: DocNode): Generator<DocNode> {
  yield node;
  for (const child of node.content ?? []) yield* walk(child);
}

/** The headings that the list of contents shows. */
export function headings(doc: Doc): Heading[] {
  const anchors = new Anchors();
  const found: Heading[] = [];
  for (const block of doc.content) if (block.type !== "footnote") collect(block, anchors, found);
  return found.filter((heading) => heading.level <= 2 && heading.id !== "" && heading.text !== "");
}

function collect(block: DocNode, anchors: Anchors, found: Heading[]): void {
  if (block.type === "heading") {
    const text = (block.content ?? [])
      .map((child) => child.text ?? " ")
      .join("")
      .trim();
    found.push({ level: Number(block.attrs?.level ?? 1), id: anchors.of(block), text });
    return;
  }
  for (const child of block.content ?? []) collect(child, anchors, found);
}

/** The plain text, one line for each block. */
export function plainText(node: DocNode): string {
  const content = node.content ?? [];
  if (content.some((child) => child.text !== undefined || child.type === "hardBreak")) {
    return content
      .map((child) => child.text ?? String(child.attrs?.html ?? child.attrs?.alt ?? " "))
      .join("");
  }
  return content.map(plainText).filter(Boolean).join("\n");
}

/** The ids of the files that the document shows as pictures. */
export function pictures(doc: Doc): string[] {
  const found = new Set<string>();
  for (const node of walk(doc)) {
    const id = node.type === "image" ? fileOf(String(node.attrs?.src ?? "")) : undefined;
    if (id) found.add(id);
  }
  return [...found];
}
