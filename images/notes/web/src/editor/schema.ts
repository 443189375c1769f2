/**
 * The schema of the editor: the server's nodes and marks, with how they are drawn and pasted.
 *
 * Invariant: it accepts the same documents as `doc/schema.json`. Only the order in a choice of nodes
 * differs: ProseMirror takes the first one where it has to fill a place, which is to be a paragraph.
 */
import { type DOMOutputSpec, type MarkSpec, Node, type NodeSpec, Schema } from "prosemirror-model";
import { addressFor, isLive, isMention } from "../doc/address";
import spec from "../doc/schema.json";
import type { Doc, DocNode } from "../doc/types";

interface Look extends Partial<NodeSpec> {}
type Attrs = Record<string, string | number | boolean | null>;

/** The most that the server takes: characters of an attribute, and the first number of a list. */
const [MOST_TEXT, MOST_START] = [10_000, 999_999_999];

const levelOf = ({ dataset: { level = "" }, tagName }: HTMLElement): Attrs => ({
  // Pages of others use the same name for numbers such as 2.1.
  level: Number(/^[1-6]$/.test(level) ? level : tagName.slice(1)),
});
const own = (dom: HTMLElement, name: string, isSound: RegExp): Attrs | false => {
  const found = dom.dataset[name] ?? "";
  return isSound.test(found) ? { [name]: found } : false;
};
const labelOf = (dom: HTMLElement): Attrs | false =>
  own(dom, "label", /^[^\s\p{C}[\]\\|`]{1,60}$/u);
const aligned = (dom: HTMLElement): Attrs => ({
  align: ["left", "center", "right"].find((one) => dom.classList.contains(one)) ?? null,
});
const cell = (tag: string): Look => ({
  isolating: true,
  parseDOM: [{ tag, getAttrs: aligned }],
  toDOM: (node) => [tag, node.attrs.align ? { class: node.attrs.align } : {}, 0],
});
const title = (text: string | null | undefined): string | null =>
  text
    ?.slice(0, MOST_TEXT)
    .replace(/[\p{Cc}\p{Cs}]+/gu, " ")
    .trim() || null;

/** The attributes of a pasted picture; false for one that the server would refuse. */
function imageOf(dom: HTMLElement): Attrs | false {
  const src = addressFor(dom.dataset.src ?? dom.getAttribute("src") ?? "");
  if (!src || src.startsWith("blob:")) return false;
  return { src, alt: title(dom.getAttribute("alt")), title: title(dom.getAttribute("title")) };
}

/** A picture of this site; of any other only its text, since the policy forbids to load it. */
function imageDOM(node: Node): DOMOutputSpec {
  const { src, alt, title: hint } = node.attrs as { src: string; alt?: string; title?: string };
  if (src.startsWith("/") && !src.startsWith("//") && isLive(src)) {
    return ["img", { src, alt: alt ?? "", ...(hint ? { title: hint } : {}) }];
  }
  return ["span", { class: "picture", "data-src": src, title: src }, alt || src];
}

/** A label without what keeps two of one number apart. */
const numberOf = (label: string): string => label.replace(/^(\d+)-\w{4}$/, "$1");

const LOOKS: Record<string, Look> = {
  paragraph: { parseDOM: [{ tag: "p" }], toDOM: () => ["p", 0] },
  heading: {
    defining: true,
    parseDOM: [1, 2, 3, 4, 5, 6].map((n) => ({ tag: `h${n}`, getAttrs: levelOf })),
    // The page's title is the h1.
    toDOM: (node) => [
      `h${Math.min(6, Number(node.attrs.level) + 1)}`,
      { "data-level": node.attrs.level },
      0,
    ],
  },
  bulletList: { parseDOM: [{ tag: "ul" }], toDOM: () => ["ul", 0] },
  orderedList: {
    parseDOM: [
      {
        tag: "ol",
        getAttrs: (dom) => ({
          start: Math.min(
            Math.max(0, Number.parseInt(dom.getAttribute("start") ?? "1", 10) || 0),
            MOST_START,
          ),
        }),
      },
    ],
    toDOM: (node) => ["ol", node.attrs.start === 1 ? {} : { start: node.attrs.start }, 0],
  },
  taskList: {
    parseDOM: [{ tag: "ul.tasks", priority: 60 }],
    toDOM: () => ["ul", { class: "tasks" }, 0],
  },
  listItem: {
    defining: true,
    parseDOM: [{ tag: "li" }],
    // In a list of tasks and other items the tasks are items, too.
    toDOM: (node) => ["li", node.attrs.checked === null ? {} : { class: "task" }, 0],
  },
  taskItem: {
    defining: true,
    parseDOM: [
      {
        tag: "li.task",
        priority: 60,
        getAttrs: (dom) => ({ checked: dom.dataset.checked === "true" }),
      },
    ],
    toDOM: (node) => ["li", { class: "task", "data-checked": String(node.attrs.checked) }, 0],
  },
  blockquote: {
    defining: true,
    parseDOM: [{ tag: "blockquote" }],
    toDOM: () => ["blockquote", 0],
  },
  codeBlock: {
    code: true,
    defining: true,
    parseDOM: [
      {
        tag: "pre",
        preserveWhitespace: "full",
        getAttrs: (dom) => ({ language: title(dom.dataset.language) }),
      },
    ],
    toDOM: (node) => [
      "pre",
      node.attrs.language ? { "data-language": node.attrs.language } : {},
      ["code", { spellcheck: "false" }, 0],
    ],
  },
  htmlBlock: {
    code: true,
    defining: true,
    parseDOM: [{ tag: "pre.html", priority: 60, preserveWhitespace: "full" }],
    toDOM: () => ["pre", { class: "html" }, ["code", { spellcheck: "false" }, 0]],
  },
  horizontalRule: { parseDOM: [{ tag: "hr" }], toDOM: () => ["hr"] },
  table: {
    isolating: true,
    parseDOM: [{ tag: "table" }],
    toDOM: () => ["table", ["tbody", 0]],
  },
  tableRow: { parseDOM: [{ tag: "tr" }], toDOM: () => ["tr", 0] },
  tableHeader: cell("th"),
  tableCell: cell("td"),
  footnote: {
    defining: true,
    isolating: true,
    parseDOM: [{ tag: "div.footnote[data-label]", getAttrs: labelOf }],
    toDOM: ({ attrs: { label } }) => [
      "div",
      { class: "footnote", "data-label": label, "data-number": numberOf(label) },
      0,
    ],
  },
  hardBreak: { selectable: false, parseDOM: [{ tag: "br" }], toDOM: () => ["br"] },
  softBreak: {
    selectable: false,
    parseDOM: [{ tag: "span.soft-break", priority: 60 }],
    toDOM: () => ["span", { class: "soft-break" }, " "],
  },
  image: {
    parseDOM: [
      { tag: "img[src]", getAttrs: imageOf },
      { tag: "span.picture[data-src]", getAttrs: imageOf },
    ],
    toDOM: imageDOM,
  },
  htmlInline: {
    parseDOM: [
      {
        tag: "code[data-html]",
        priority: 60,
        getAttrs: (dom) => own(dom, "html", /^[^]{1,10000}$/),
      },
    ],
    toDOM: (node) => ["code", { "data-html": node.attrs.html }, node.attrs.html],
  },
  footnoteReference: {
    parseDOM: [{ tag: "sup[data-label]", priority: 60, getAttrs: labelOf }],
    toDOM: ({ attrs: { label } }) => ["sup", { "data-label": label }, `[${numberOf(label)}]`],
  },
};

const mark = (tag: string, ...others: string[]): Partial<MarkSpec> => ({
  parseDOM: [tag, ...others].map((one) => ({ tag: one })),
  toDOM: () => [tag, 0],
});

const MARKS: Record<string, Partial<MarkSpec>> = {
  link: {
    inclusive: false,
    parseDOM: [
      {
        tag: "a[href]",
        getAttrs: (dom) => {
          const href = addressFor(dom.getAttribute("href") ?? "");
          return href ? { href, title: title(dom.getAttribute("title")) } : false;
        },
      },
      {
        tag: "span.mention[data-href]",
        getAttrs: (dom) => {
          const href = addressFor(dom.dataset.href ?? "");
          return href && isMention(href) ? { href, title: null } : false;
        },
      },
    ],
    // An address of an unknown scheme is kept, but a click or a middle click must not open it.
    toDOM: ({ attrs }) =>
      isLive(String(attrs.href))
        ? ["a", { href: attrs.href, rel: "noopener nofollow", title: attrs.title ?? attrs.href }, 0]
        : isMention(String(attrs.href))
          ? ["span", { class: "mention", "data-href": attrs.href }, 0]
          : ["span", { class: "link", title: attrs.href }, 0],
  },
  bold: mark("strong", "b"),
  italic: mark("em", "i"),
  strike: mark("s", "del"),
  underline: mark("u"),
  highlight: mark("mark"),
  subscript: mark("sub"),
  superscript: mark("sup"),
  code: mark("code"),
};

/** The same choices, with the paragraph first. */
const paragraphFirst = (content: string): string =>
  content.replaceAll(/\(([^)]*)\)/g, (_, inner: string) => {
    const names = inner.split("|");
    const isChoice = names.includes("paragraph");
    const sorted = isChoice ? ["paragraph", ...names.filter((n) => n !== "paragraph")] : names;
    return `(${sorted.join("|")})`;
  });

function nodes(): Record<string, NodeSpec> {
  const made: Record<string, NodeSpec> = {};
  for (const [name, given] of Object.entries(spec.nodes as Record<string, NodeSpec>)) {
    const content = given.content === undefined ? {} : { content: paragraphFirst(given.content) };
    made[name] = { ...given, ...content, ...LOOKS[name] };
  }
  return made;
}

function marks(): Record<string, MarkSpec> {
  const made: Record<string, MarkSpec> = {};
  for (const [name, given] of Object.entries(spec.marks as Record<string, MarkSpec>)) {
    made[name] = { ...given, ...MARKS[name] };
  }
  return made;
}

export const schema = new Schema({ nodes: nodes(), marks: marks() });

export const nodeFrom = (doc: Doc): Node => Node.fromJSON(schema, doc);

/** The document's JSON as the server writes it: without attributes that are null. */
export const docOf = (doc: Node): Doc => plain(doc.toJSON()) as Doc;

function plain(node: DocNode): DocNode {
  const made: DocNode = { ...node };
  const attrs = withoutNulls(node.attrs);
  if (attrs) made.attrs = attrs;
  else delete made.attrs;
  if (node.content) made.content = node.content.map(plain);
  if (node.marks) {
    made.marks = node.marks.map((one) => {
      const kept = withoutNulls(one.attrs);
      return kept ? { type: one.type, attrs: kept } : { type: one.type };
    });
  }
  return made;
}

function withoutNulls<T extends object>(attrs: T | undefined): T | undefined {
  const kept = Object.entries(attrs ?? {}).filter(([, value]) => value !== null);
  return kept.length ? (Object.fromEntries(kept) as T) : undefined;
}
