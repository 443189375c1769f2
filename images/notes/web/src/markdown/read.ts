/** Reads the parser's tokens into a document, as the server does (doc/markdown_parser.py). */
import type { Token } from "markdown-it";
import type { addressFor } from "../doc/address";
import type { DocNode, Mark } from "../doc/types";

/** Given, not imported: this chunk imports nothing of the first one, which that would split. */
export type Address = typeof addressFor;

const OPENERS: Record<string, string> = { strong: "bold", em: "italic", s: "strike" };
const TASK = /^\[([ xX])\](?:[ \n]|$)/;
const TYPES: Record<string, string> = {
  bullet_list: "bulletList",
  ordered_list: "orderedList",
  list_item: "listItem",
  footnote_reference: "footnote",
  th: "tableHeader",
  td: "tableCell",
  tr: "tableRow",
};

/** A node that is being read; `task` is the box with which its text begins. */
interface Open extends DocNode {
  content: DocNode[];
  task?: RegExpExecArray | undefined;
}

/** The blocks of a document; its footnotes come last. */
export function blocks(
  tokens: readonly Token[],
  unescape: (text: string) => string,
  address: Address,
): DocNode[] {
  const root: Open = { type: "doc", content: [] };
  const stack: Open[] = [root];
  const footnotes: DocNode[] = [];
  for (const token of tokens) {
    const last = stack.at(-1) ?? root;
    const { type: kind } = token;
    if (kind === "inline") {
      // One by one: a call takes no hundred thousand arguments.
      for (const one of new Inline(address).read(token.children ?? [])) last.content.push(one);
      last.task = TASK.exec(token.content) ?? undefined;
    } else if (kind.endsWith("_open")) stack.push(opened(token));
    else if (kind === "footnote_reference_close") footnotes.push(stack.pop() ?? root);
    else if (kind.endsWith("_close")) {
      const node = stack.pop() ?? root;
      const parent = stack.at(-1) ?? root;
      for (const one of closed(node)) parent.content.push(one);
    } else if (kind === "fence" || kind === "code_block") {
      last.content.push(codeOf(token, unescape));
    } else if (kind === "html_block") {
      last.content.push({ type: "htmlBlock", content: [{ type: "text", text: token.content }] });
    } else if (kind === "hr") last.content.push({ type: "horizontalRule" });
  }
  return [...root.content, ...footnotes];
}

const said = (token: Token, name: string): string => String(token.attrGet(name) ?? "");

function opened(token: Token): Open {
  const kind = token.type.slice(0, -"_open".length);
  const node: Open = { type: TYPES[kind] ?? kind, content: [] };
  if (kind === "heading") node.attrs = { level: Number(token.tag.slice(1)) };
  else if (kind === "ordered_list") node.attrs = { start: Number(token.attrGet("start") ?? 1) };
  else if (kind === "footnote_reference") node.attrs = { label: String(token.meta?.label) };
  else if (kind === "th" || kind === "td") {
    const align = /text-align:(left|center|right)/.exec(said(token, "style"))?.[1];
    if (align) node.attrs = { align };
  }
  return node;
}

/** The nodes that a completed node adds to its parent. */
function closed(node: Open): DocNode[] {
  if (node.type === "thead" || node.type === "tbody") return node.content;
  if (node.type === "tableHeader" || node.type === "tableCell") {
    node.content = [{ type: "paragraph", content: node.content }];
  }
  if (node.type === "listItem") {
    const checked = takeTask(node);
    if (checked !== undefined) node.attrs = { checked };
  }
  return [node];
}

/** Removes the task box at the start of a list item; its state, or undefined without a box. */
function takeTask(item: Open): boolean | undefined {
  const first = item.content[0] as Open | undefined;
  const found = first?.type === "paragraph" ? first.task : undefined;
  const text = found && first?.content[0];
  // A box that is a link or escaped is no task box.
  if (!found || !text || text.marks || !text.text?.startsWith(found[0].trimEnd())) return undefined;
  text.text = text.text.slice(found[0].replace(/\n+$/, "").length);
  return found[1] !== " ";
}

function codeOf(token: Token, unescape: (text: string) => string): DocNode {
  const language = unescape(token.info).split(/\s+/).find(Boolean) ?? null;
  const text = token.content.replace(/\n$/, "");
  const content = text ? [{ type: "text", text }] : [];
  return { type: "codeBlock", attrs: { language }, content };
}

/** Reads the tokens of one line of text. It only counts how often each mark is open. */
class Inline {
  readonly #open = new Map<string, number>();
  readonly #links: (Mark | undefined)[] = [];
  readonly #out: DocNode[] = [];

  constructor(readonly address: Address) {}

  read(tokens: readonly Token[]): DocNode[] {
    for (const token of tokens) this.#token(token);
    return this.#out;
  }

  #token(token: Token): void {
    const { type: kind, content } = token;
    const [, name = "", way] = /^(strong|em|s)_(open|close)$/.exec(kind) ?? [];
    const mark = OPENERS[name];
    if (mark) this.#open.set(mark, (this.#open.get(mark) ?? 0) + (way === "open" ? 1 : -1));
    else if (kind === "softbreak") this.#add({ type: "softBreak" });
    else if (kind === "hardbreak") this.#add({ type: "hardBreak" });
    else if (kind === "code_inline") this.#add({ type: "text", text: content }, { type: "code" });
    else if (kind === "html_inline") this.#add({ type: "htmlInline", attrs: { html: content } });
    else if (kind === "footnote_reference")
      this.#add({ type: "footnoteReference", attrs: { label: content } });
    else if (kind === "link_open") this.#link(token);
    else if (kind === "link_close") this.#links.pop();
    else if (kind === "image") this.#image(token);
    else this.#text(content);
  }

  #text(text: string): void {
    if (text) this.#add({ type: "text", text });
  }

  #add(node: DocNode, ...more: Mark[]): void {
    const link = this.#links.at(-1);
    const open = [...this.#open].filter(([, count]) => count).map(([type]) => ({ type }));
    const marks = [...(link ? [link] : []), ...open, ...more];
    this.#out.push(marks.length ? { ...node, marks } : node);
  }

  #link(token: Token): void {
    // A link with a refused address is kept as its text.
    const href = allowed(said(token, "href"), this.address);
    const title = said(token, "title");
    if (href === undefined) this.#links.push(undefined);
    else this.#links.push({ type: "link", attrs: title ? { href, title } : { href } });
  }

  #image(token: Token): void {
    const alt = (token.children ?? []).map(plain).join("");
    const src = allowed(said(token, "src"), this.address);
    if (src === undefined) {
      this.#text(alt);
      return;
    }
    const title = said(token, "title");
    this.#add({ type: "image", attrs: title ? { src, alt, title } : { src, alt } });
  }
}

/** An address as the server stores it, which may be empty; undefined for one that could run code. */
const allowed = (url: string, address: Address): string | undefined =>
  url.replace(/[\p{Cc}\p{Cs}]/gu, "").trim() ? address(url) : "";

function plain(token: Token): string {
  if (token.children?.length) return token.children.map(plain).join("");
  return token.type === "softbreak" || token.type === "hardbreak" ? " " : token.content;
}
