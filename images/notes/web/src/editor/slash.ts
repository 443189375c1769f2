/**
 * The state of the menu behind `/`: where it was typed, what is typed after it, and what is chosen.
 *
 * The caret stays in the text, and the text names the chosen entry (`aria-activedescendant`). Invariant:
 * the menu is open only while the caret is behind its `/` in the same block.
 */
import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { type Block, offered } from "./blocks";

/** The id of the listbox; those of its entries begin with it. */
export const LIST = "blocks";
const MOST_TYPED = 30;

/** The open menu. */
export interface Slash {
  at: number;
  typed: string;
  chosen: number;
  found: Block[];
}

type Change = { open: number } | { chosen: number } | "close";

const key = new PluginKey<Slash | undefined>("slash");

export const slashOf = (state: EditorState): Slash | undefined => key.getState(state);

/** The text between the `/` and the caret; undefined if the caret has left it. */
function typedAfter(state: EditorState, at: number): string | undefined {
  const { $from, empty } = state.selection;
  if (!empty || at < $from.start() || $from.pos <= at || at >= state.doc.content.size) {
    return undefined;
  }
  const text = state.doc.textBetween(at, $from.pos, "\n", "\n");
  const isTyped = text.startsWith("/") && text.length <= MOST_TYPED && !text.includes("\n");
  return isTyped ? text.slice(1) : undefined;
}

/** True where a sign that opens a list begins a word, outside of code. */
export function isStart(state: EditorState, at: number): boolean {
  const $at = state.doc.resolve(at);
  if ($at.parent.type.spec.code || !$at.parent.inlineContent) return false;
  if ($at.marks().some((one) => one.type.name === "code")) return false;
  return /(^|[\s(])$/.test($at.parent.textBetween(0, $at.parentOffset, undefined, " "));
}

const idOf = (block: Block): string => `${LIST}-${block.id}`;

/** Takes away what was typed and does what the entry is for. */
export function choose(view: EditorView, block: Block): void {
  const slash = slashOf(view.state);
  if (!slash) return;
  const { tr } = view.state;
  view.dispatch(tr.delete(slash.at, view.state.selection.from).setMeta(key, "close"));
  block.run(view.state, view.dispatch, view);
  view.focus();
}

export const close = (view: EditorView): void => {
  if (slashOf(view.state)) view.dispatch(view.state.tr.setMeta(key, "close"));
};

export const point = (view: EditorView, chosen: number): void => {
  view.dispatch(view.state.tr.setMeta(key, { chosen }));
};

function onKey(view: EditorView, event: KeyboardEvent): boolean {
  const slash = slashOf(view.state);
  if (!slash?.found.length || event.isComposing || event.ctrlKey || event.metaKey) return false;
  const { chosen, found } = slash;
  const steps: Record<string, number> = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
  const next = steps[event.key];
  if (next !== undefined && !event.shiftKey && !event.altKey) {
    point(view, (next + found.length) % found.length);
    return true;
  }
  if (event.key === "Escape") {
    close(view);
    return true;
  }
  const isChoice = (event.key === "Enter" || event.key === "Tab") && !event.shiftKey;
  const block = found[chosen];
  if (isChoice && block) choose(view, block);
  return isChoice;
}

export const slash = (): Plugin =>
  new Plugin<Slash | undefined>({
    key,
    state: {
      init: () => undefined,
      apply(tr, before, _old, state) {
        const change = tr.getMeta(key) as Change | undefined;
        if (change === "close") return undefined;
        if (before && change && "chosen" in change) return { ...before, chosen: change.chosen };
        const isNew = change !== undefined && "open" in change;
        const at = isNew ? change.open : before && tr.mapping.map(before.at, 1);
        const typed = at === undefined ? undefined : typedAfter(state, at);
        if (at === undefined || typed === undefined) return undefined;
        const isSame = !isNew && before?.typed === typed;
        const found = offered(state, typed);
        const chosen = isSame ? Math.min(before.chosen, Math.max(0, found.length - 1)) : 0;
        return { at, typed, chosen, found };
      },
    },
    props: {
      attributes(state) {
        const { found, chosen } = slashOf(state) ?? { found: [], chosen: 0 };
        const block = found[chosen];
        const always = { "aria-autocomplete": "list", "aria-haspopup": "listbox" };
        if (!block) return always;
        return { ...always, "aria-controls": LIST, "aria-activedescendant": idOf(block) };
      },
      handleTextInput(view, from, to, text) {
        if (text !== "/" || !isStart(view.state, from)) return false;
        view.dispatch(view.state.tr.insertText("/", from, to).setMeta(key, { open: from }));
        return true;
      },
      handleKeyDown: onKey,
      handleDOMEvents: {
        blur(view) {
          close(view);
          return false;
        },
      },
    },
  });
