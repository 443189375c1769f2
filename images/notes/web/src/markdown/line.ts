/**
 * The normal form of a line, as the server has it (doc/lines.py): neighbouring texts with the same marks are one
 * text, a pair of raw tags that means a mark becomes that mark.
 */
import spec from "../doc/schema.json";
import type { DocNode, Mark } from "../doc/types";
import { folded } from "./rules";
import { isBreak, isTag, markTag } from "./raw_html";

const RANK = new Map(Object.keys(spec.marks).map((name, at) => [name, at]));
const rank = (mark: Mark): number => RANK.get(mark.type) ?? 0;

/** A text without control characters; `keep` are those that stay. */
export const clean = (text: string, keep = ""): string =>
  text.replace(/[\p{Cc}\p{Cs}]/gu, (one) => (keep.includes(one) ? one : ""));

export const spaced = (text: string): string =>
  text.replaceAll("\r\n", "\n").replace(/[\t\n\r]/g, " ");

const oneLine = (text: string): string => clean(text.replace(/[\t\n\r]/g, " ")).trim();

/** The marks, each kind once, in the order of the schema. */
function sorted(marks: readonly Mark[]): Mark[] {
  const found = new Map(marks.map((mark) => [mark.type, mark]));
  return [...found.values()].sort((a, b) => rank(a) - rank(b));
}

function marked(node: DocNode, marks: readonly Mark[]): DocNode {
  const { marks: _, ...bare } = node;
  return marks.length ? { ...bare, marks: [...marks] } : bare;
}

function one(node: DocNode, labels: ReadonlyMap<string, string>, hasBreaks: boolean): DocNode {
  const marks = sorted((node.marks ?? []).map(plainTitle));
  const text = (given: string): DocNode => ({ type: "text", text: clean(spaced(given)) });
  let made: DocNode = { type: node.type };
  if (node.type === "text") made = text(node.text ?? "");
  else if (node.type === "softBreak" && !hasBreaks) made = text(" ");
  else if (node.type === "image") made = image(node);
  else if (node.type === "htmlInline") {
    const source = text(String(node.attrs?.html ?? ""));
    if (isBreak(source.text ?? "")) made = { type: "hardBreak" };
    else if (isTag(source.text ?? ""))
      made = { type: "htmlInline", attrs: { html: source.text ?? "" } };
    else made = source;
  } else if (node.type === "footnoteReference") {
    const name = String(node.attrs?.label);
    const known = labels.get(folded(name));
    if (known === undefined) made = text(`[^${name}]`);
    else {
      // A reference is a link itself, and a link cannot contain a link.
      const others = marks.filter((mark) => mark.type !== "link");
      return marked({ type: node.type, attrs: { label: known } }, others);
    }
  }
  return marked(made, marks);
}

function plainTitle(mark: Mark): Mark {
  if (mark.type !== "link") return { type: mark.type };
  const { href = "", title } = mark.attrs ?? {};
  const plain = title && oneLine(title);
  return { type: "link", attrs: plain ? { href, title: plain } : { href } };
}

function image({ attrs = {} }: DocNode): DocNode {
  const kept: NonNullable<DocNode["attrs"]> = { src: String(attrs.src ?? "") };
  for (const name of ["alt", "title"]) {
    const plain = typeof attrs[name] === "string" ? oneLine(attrs[name]) : "";
    if (plain) kept[name] = plain;
  }
  return { type: "image", attrs: kept };
}

/** Replaces pairs of raw tags by marks; a tag without its counterpart is kept. */
function paired(nodes: DocNode[]): DocNode[] {
  const tags = nodes.map((node) =>
    node.type === "htmlInline" ? markTag(String(node.attrs?.html)) : undefined,
  );
  if (!tags.some(Boolean)) return nodes;
  const waiting = new Map<string, number[]>();
  const twins = new Set<number>();
  for (const [at, tag] of tags.entries()) {
    if (!tag) continue;
    const open = waiting.get(tag.name) ?? [];
    waiting.set(tag.name, open);
    const twin = tag.closes ? open.pop() : undefined;
    if (!tag.closes) open.push(at);
    else if (twin !== undefined) twins.add(twin).add(at);
  }
  const found: DocNode[] = [];
  const opened = new Map<string, number>();
  for (const [at, node] of nodes.entries()) {
    const tag = tags[at];
    if (tag && twins.has(at)) {
      opened.set(tag.mark, (opened.get(tag.mark) ?? 0) + (tag.closes ? -1 : 1));
      continue;
    }
    const here = [...opened].filter(([, count]) => count).map(([type]) => ({ type }));
    // An unpaired tag that Markdown is written with could later form a pair: it stays text.
    const made = tag?.isWritten ? { type: "text", text: String(node.attrs?.html) } : node;
    found.push(marked(made, sorted([...(node.marks ?? []), ...here])));
  }
  return found;
}

const isBreaking = (node: DocNode | undefined): boolean =>
  node === undefined || node.type === "softBreak" || node.type === "hardBreak";

/** Removes empty texts, and soft breaks next to another break or at an end. */
function settled(nodes: DocNode[]): DocNode[] {
  const full = nodes.filter((node) => node.type !== "text" || node.text);
  const found: DocNode[] = [];
  for (const [at, node] of full.entries()) {
    const isLoose = isBreaking(found.at(-1)) || isBreaking(full[at + 1]);
    if (node.type !== "softBreak" || !isLoose) found.push(node);
  }
  return found;
}

/** Joins neighbouring texts that have the same marks. */
function joined(nodes: DocNode[]): DocNode[] {
  const found: DocNode[] = [];
  const texts: string[][] = [];
  let last = "";
  for (const node of nodes) {
    const marks = node.type === "text" ? JSON.stringify(node.marks ?? []) : "";
    if (marks && marks === last) texts.at(-1)?.push(node.text ?? "");
    else {
      found.push({ ...node });
      texts.push(node.type === "text" ? [node.text ?? ""] : []);
    }
    last = marks;
  }
  for (const [at, node] of found.entries())
    if (node.type === "text") node.text = texts[at]?.join("") ?? "";
  return found;
}

/** The nodes of a line in normal form. Without `hasBreaks` a soft break becomes a space. */
export function normalLine(
  nodes: readonly DocNode[],
  labels: ReadonlyMap<string, string>,
  hasBreaks = true,
): DocNode[] {
  return joined(settled(paired(nodes.map((node) => one(node, labels, hasBreaks)))));
}

/** A line in normal form, with spaces instead of soft breaks. */
export const withoutBreaks = (nodes: readonly DocNode[]): DocNode[] =>
  joined(
    nodes.map((node) =>
      node.type === "softBreak" ? marked({ type: "text", text: " " }, node.marks ?? []) : node,
    ),
  );
