/**
 * Makes blocks of pasted Markdown. It is pasted as text first, and becomes blocks in a change of its own: one
 * Backspace, or undo, makes it the text again.
 */
import { closeHistory, undo } from "prosemirror-history";
import { Fragment, type Node, Slice } from "prosemirror-model";
import { Plugin, PluginKey } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { addressFor } from "../doc/address";
import type { PastedWords } from "../words/pasted_en";

/** The most that a page holds, and the most that is read as Markdown. */
const MOST = 2_000_000;
const MOST_READ = 500_000;

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

const fold = (node: Node): string => String(node.attrs.label).toLowerCase();

/** A pasted content whose footnotes have labels that the document has not. */
export function relabelled(content: Fragment, doc: Node): Fragment {
  const [taken, names] = [new Set<string>(), new Map<string, string>()];
  doc.forEach((node) => node.type.name === "footnote" && taken.add(fold(node)));
  content.forEach((node) => {
    const label = String(node.attrs.label);
    let made = label;
    if (node.type.name !== "footnote" || !taken.has(fold(node))) return;
    for (let n = 2; taken.has(made.toLowerCase()); n += 1) made = `${label.slice(0, 50)}-${n}`;
    taken.add(made.toLowerCase());
    names.set(fold(node), made);
  });
  const rename = (part: Fragment): Fragment => {
    const made: Node[] = [];
    part.forEach((node) => {
      const label = node.attrs.label && names.get(fold(node));
      const inner = rename(node.content);
      made.push(label ? node.type.create({ label }, inner, node.marks) : node.copy(inner));
    });
    return Fragment.from(made);
  };
  return names.size ? rename(content) : content;
}

/** What the plugin has of the workspace: its words, and who says a sentence to everybody. */
interface Around {
  words: (en: PastedWords) => Promise<PastedWords>;
  say: (text: string) => void;
}

/** Makes blocks of what was pasted, if nobody has changed it since. */
async function convert(view: EditorView, { words, say }: Around): Promise<void> {
  const [{ en, parse }, { inPlace }] = await Promise.all([
    import("../markdown/pasted"),
    import("./pasted_blocks"),
  ]);
  const said = await words(en);
  const pasted = key.getState(view.state);
  if (view.isDestroyed || view.composing || !pasted || pasted.isMade) return;
  const { from, to, text, plain } = pasted;
  const found = between(view.state.doc, from, to) === plain ? parse(text, addressFor) : undefined;
  const tr = found && inPlace(view.state, { from, to }, found, relabelled);
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
      transformPasted(slice, view) {
        const { content, openStart, openEnd } = slice;
        if (view.dragging?.move) return slice;
        return new Slice(relabelled(content, view.state.doc), openStart, openEnd);
      },
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
