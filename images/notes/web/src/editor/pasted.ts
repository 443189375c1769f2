/**
 * Makes blocks of pasted Markdown. It is pasted as text first, and becomes blocks in a change of its own: one
 * Backspace, or undo, makes it the text again.
 */
import { closeHistory, undo } from "prosemirror-history";
import { Fragment, type Node, type ResolvedPos, Slice } from "prosemirror-model";
import {
  type EditorState,
  Plugin,
  PluginKey,
  Selection,
  type Transaction,
} from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { addressFor } from "../doc/address";
import type { Doc, DocNode } from "../doc/types";
import type { PastedWords } from "../words/pasted_en";
import { nodeFrom } from "./schema";

/** The most that a page holds, and the most that is read as Markdown. */
const MOST = 2_000_000;
const MOST_READ = 500_000;
const MAX_DEPTH = 40;

/** Signs that hardly occur in a text that is not Markdown. */
const SIGNS = [
  /^ {0,3}#{1,6} {1,8}\S/m,
  /^ {0,3}(?:`{3,}|~{3,})[^`\n]{0,80}$/m,
  /^ {0,3}> ?\S/m,
  /^ {0,40}[-*+] \[[ xX]\] \S/m,
  /^ {0,40}(?:[-*+]|\d{1,9}[.)]) {1,4}\S.*\n(?:[ \t]*\n| {1,40}\S.*\n){0,40}? {0,40}(?:[-*+]|\d{1,9}[.)]) {1,4}\S/m,
  /^ {0,3}\|?(?: {0,40}:?-+:? {0,40}\|)+(?: {0,40}:?-+:? {0,40})?\|? {0,40}$/m,
  /!?\[[^\]\n]{1,300}\]\((?:<[^>\n]{1,2000}>|[^\s()<>]{1,2000})(?: "[^"\n]{0,300}")?\)/,
  /(?:^|[\s(])(\*\*|__|~~)(?=\S)[^\n]{0,300}?\S\1(?=$|[\s).,;:!?])/m,
  /(?:^|[\s(])`[^`\n]{1,300}`(?=$|[\s).,;:!?])/m,
  /^\S.*\n(?:={3,}|-{3,}) *$/m,
  /^ {0,3}\[\^?[^\]\n]{1,300}\]: {1,8}\S/m,
];

/** True if a text is probably Markdown; a program that begins with its interpreter is none. */
export function looksLikeMarkdown(text: string): boolean {
  // Enough of it to tell: the expressions look at each line.
  const head = text.slice(0, 20_000).replaceAll("\r\n", "\n");
  return !head.startsWith("#!") && SIGNS.some((sign) => sign.test(head));
}

/** A pasted text and where it is; `isMade` when its blocks are there. */
interface Pasted {
  from: number;
  to: number;
  text: string;
  plain: string;
  isMade: boolean;
}

const key = new PluginKey<Pasted | undefined>("pasted");

const between = (doc: Node, from: number, to: number): string =>
  doc.textBetween(from, to, "\n", "\ufffc");

const depthOf = (node: Node): number => {
  let most = 0;
  node.forEach((child) => {
    most = Math.max(most, depthOf(child));
  });
  return node.isTextblock ? 0 : most + 1;
};

const isInside = ($at: ResolvedPos, ...names: string[]): boolean =>
  Array.from({ length: $at.depth + 1 }, (_, depth) => $at.node(depth).type.name).some((name) =>
    names.includes(name),
  );

/** The labels of a document's footnotes. */
function labelsOf(doc: Node): Set<string> {
  const found = new Set<string>();
  doc.forEach((node) => {
    if (node.type.name === "footnote") found.add(String(node.attrs.label).toLowerCase());
  });
  return found;
}

/** The document with labels that are not taken. */
function relabelled(doc: Doc, taken: ReadonlySet<string>): Doc {
  const names = new Map<string, string>();
  const used = new Set(taken);
  for (const { type, attrs } of doc.content) {
    const label = String(attrs?.label);
    if (type !== "footnote") continue;
    let made = label;
    for (let n = 2; used.has(made.toLowerCase()); n += 1) made = `${label.slice(0, 50)}-${n}`;
    used.add(made.toLowerCase());
    names.set(label, made);
  }
  const rename = (node: DocNode): DocNode => {
    const label = names.get(String(node.attrs?.label));
    return {
      ...node,
      ...(label === undefined ? {} : { attrs: { ...node.attrs, label } }),
      ...(node.content ? { content: node.content.map(rename) } : {}),
    };
  };
  return rename(doc) as Doc;
}

/** Puts the blocks of a document in place of the text between two places; undefined where they do not fit. */
export function inPlace(
  state: EditorState,
  from: number,
  to: number,
  given: Doc,
): Transaction | undefined {
  const $from = state.doc.resolve(from);
  const doc = nodeFrom(relabelled(given, labelsOf(state.doc)));
  const [blocks, notes]: [Node[], Node[]] = [[], []];
  doc.forEach((node) => (node.type.name === "footnote" ? notes : blocks).push(node));
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (!first || !last || $from.depth + depthOf(doc) > MAX_DEPTH) return undefined;
  const isLine = blocks.length === 1 && first.type.name === "paragraph";
  if (!isLine && isInside($from, "tableCell", "tableHeader")) return undefined;
  if (isInside($from, "codeBlock", "htmlBlock")) return undefined;
  const content = Fragment.from(blocks);
  const open = Slice.maxOpen(content, false);
  const continues = /List$/.test(first.type.name) && isInside($from, "listItem", "taskItem");
  const slice = new Slice(
    content,
    first.type.name === "paragraph" ? 1 : continues ? open.openStart : 0,
    last.type.name === "paragraph" ? 1 : continues && blocks.length === 1 ? open.openEnd : 0,
  );
  const { tr } = state;
  tr.replaceRange(from, to, slice);
  const end = tr.mapping.map(to);
  if (notes.length) tr.insert(tr.doc.content.size, notes);
  return tr.setSelection(Selection.near(tr.doc.resolve(end), -1));
}

/** What the plugin has of the workspace: its words, and who says a sentence to everybody. */
interface Around {
  words: (en: PastedWords) => Promise<PastedWords>;
  say: (text: string) => void;
}

/** Makes blocks of what was pasted, if nobody has changed it since. */
async function convert(view: EditorView, { words, say }: Around): Promise<void> {
  const { en, parse } = await import("../markdown/pasted");
  const said = await words(en);
  const pasted = key.getState(view.state);
  if (view.isDestroyed || view.composing || !pasted || pasted.isMade) return;
  const { from, to, text, plain } = pasted;
  const found = between(view.state.doc, from, to) === plain ? parse(text, addressFor) : undefined;
  const tr = found && inPlace(view.state, from, to, found);
  if (!tr) {
    view.dispatch(view.state.tr.setMeta(key, "none"));
    return;
  }
  closeHistory(tr).setMeta(key, { ...pasted, isMade: true });
  view.dispatch(tr.scrollIntoView());
  // A page that is full keeps the text.
  if (key.getState(view.state)?.isMade) say(said.recognised);
}

/** The plugin; files and lone addresses are for the plugins before it. */
export function pastes(around: Around): Plugin {
  const { words, say } = around;
  const failed = (error: unknown): void => say(String(error));
  let isShifted = false;
  let waiting: string | undefined;
  return new Plugin<Pasted | undefined>({
    key,
    state: {
      init: () => undefined,
      apply(tr, before, old, state) {
        const meta = tr.getMeta(key) as Pasted | "none" | undefined;
        if (meta !== undefined) return meta === "none" ? undefined : meta;
        if (waiting !== undefined && tr.getMeta("paste")) {
          const text = waiting;
          waiting = undefined;
          const from = tr.mapping.map(old.selection.from, -1);
          const to = tr.mapping.map(old.selection.to, 1);
          return { from, to, text, plain: between(state.doc, from, to), isMade: false };
        }
        if (!before || (!tr.docChanged && !tr.selectionSet)) return before;
        if (before.isMade) return undefined;
        const { mapping } = tr;
        return { ...before, from: mapping.map(before.from, 1), to: mapping.map(before.to, -1) };
      },
    },
    view: () => ({
      update(view, before) {
        const now = key.getState(view.state);
        if (now && !now.isMade && !key.getState(before)) convert(view, around).catch(failed);
      },
    }),
    props: {
      handleDOMEvents: {
        keydown(_view, event) {
          isShifted = event.shiftKey || event.key === "Shift";
          return false;
        },
        keyup(_view, event) {
          if (event.key === "Shift") isShifted = false;
          return false;
        },
        // Before the editor makes a paragraph of each line of it, which takes seconds.
        paste(_view, event) {
          if ((event.clipboardData?.getData("text/plain").length ?? 0) <= MOST) return false;
          event.preventDefault();
          void import("../markdown/pasted")
            .then(({ en }) => words(en))
            .then((said) => say(said.tooLong))
            .catch(failed);
          return true;
        },
      },
      handleKeyDown(view, event) {
        const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
        if (event.key !== "Backspace" || !isPlain || !key.getState(view.state)?.isMade)
          return false;
        return undo(view.state, view.dispatch);
      },
      handlePaste(view, event) {
        const data = event.clipboardData;
        const text = data?.getData("text/plain") ?? "";
        waiting = undefined;
        // "Paste as text" has no HTML either.
        const isText = isShifted || data?.getData("text/html") || text.length > MOST_READ;
        const isCode = view.state.selection.$from.parent.type.spec.code;
        if (!isText && !isCode && looksLikeMarkdown(text)) waiting = text;
        return false;
      },
    },
  });
}
