/**
 * A list that a sign opens in the text: where it was typed, what is typed after it, what is found and chosen.
 *
 * The caret stays in the text, and the text names the chosen entry (`aria-activedescendant`). Invariant: the list
 * is open only while the caret is behind its sign in the same block, and what it shows does not change its place.
 */
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { IconName } from "../app/icons";

export interface Entry {
  id: string;
  name: string;
  /** A shortcut, not read aloud. */
  sign?: string;
  /** What tells entries of one name apart. */
  aside?: string;
  icon?: IconName;
}

/** An open list. */
export interface Open<T> {
  at: number;
  typed: string;
  chosen: number;
  found: T[];
}

export interface Kind<T extends Entry> {
  /** The character that opens the list. */
  sign: string;
  /** The id of the listbox; those of its entries begin with it. */
  list: string;
  /** True if a text, with its sign, may still be meant for the list. */
  isTyped: (text: string) => boolean;
  /** The entries that are known at once. */
  find?: (state: EditorState, typed: string) => T[];
  /** Puts the entry in place of what was typed between two places. */
  take: (tr: Transaction, from: number, to: number, one: T) => void;
  /** What is done after it. */
  after?: (view: EditorView, one: T) => void;
  /** Attributes of the text in any state. */
  always?: Record<string, string>;
}

/** Finds entries for what is typed, and calls `show` with more than before each time. */
export type Seek<T> = (typed: string, show: (found: T[]) => void) => void;

type Change<T> = { open: number } | { chosen: number } | { found: T[]; typed: string } | "close";

/** True where a sign that opens a list begins a word, outside of code. */
export function isStart(state: EditorState, at: number): boolean {
  const $at = state.doc.resolve(at);
  if ($at.parent.type.spec.code || !$at.parent.inlineContent) return false;
  if ($at.marks().some((one) => one.type.name === "code")) return false;
  return /(^|[\s(])$/.test($at.parent.textBetween(0, $at.parentOffset, undefined, " "));
}

export class Offer<T extends Entry> {
  readonly #key: PluginKey<Open<T> | undefined>;

  constructor(readonly kind: Kind<T>) {
    this.#key = new PluginKey(kind.list);
  }

  of = (state: EditorState): Open<T> | undefined => this.#key.getState(state);

  close = (view: EditorView): void => {
    if (this.of(view.state)) this.#change(view, "close");
  };

  point = (view: EditorView, chosen: number): void => this.#change(view, { chosen });

  choose = (view: EditorView, one: T): void => {
    const open = this.of(view.state);
    if (!open) return;
    const { tr, selection } = view.state;
    this.kind.take(tr, open.at, selection.from, one);
    view.dispatch(tr.setMeta(this.#key, "close").scrollIntoView());
    this.kind.after?.(view, one);
    view.focus();
  };

  #change(view: EditorView, change: Change<T>): void {
    view.dispatch(view.state.tr.setMeta(this.#key, change));
  }

  /** The text between the sign and the caret; undefined if the caret has left it. */
  #typedAfter(state: EditorState, at: number): string | undefined {
    const { $from, empty } = state.selection;
    if (!empty || at < $from.start() || $from.pos <= at || at >= state.doc.content.size) {
      return undefined;
    }
    const text = state.doc.textBetween(at, $from.pos, "\n", "\n");
    const isTyped = text.startsWith(this.kind.sign) && this.kind.isTyped(text);
    return isTyped ? text.slice(this.kind.sign.length) : undefined;
  }

  #apply(tr: Transaction, before: Open<T> | undefined, state: EditorState): Open<T> | undefined {
    const change = tr.getMeta(this.#key) as Change<T> | undefined;
    if (change === "close") return undefined;
    if (before && change && "chosen" in change) return { ...before, chosen: change.chosen };
    if (change && "found" in change) {
      return before?.typed === change.typed ? { ...before, found: change.found } : before;
    }
    const isNew = change !== undefined && "open" in change;
    const at = isNew ? change.open : before && tr.mapping.map(before.at, 1);
    const typed = at === undefined ? undefined : this.#typedAfter(state, at);
    if (at === undefined || typed === undefined) return undefined;
    const isSame = !isNew && before?.typed === typed;
    // What is sought is not offered before it is found: Enter would take what the letters do not mean.
    const found = this.kind.find?.(state, typed) ?? (isSame ? before.found : []);
    const chosen = isSame ? Math.min(before.chosen, Math.max(0, found.length - 1)) : 0;
    return { at, typed, chosen, found };
  }

  #onKey(view: EditorView, event: KeyboardEvent): boolean {
    const open = this.of(view.state);
    if (!open?.found.length || event.isComposing || event.ctrlKey || event.metaKey) return false;
    const { chosen, found } = open;
    const steps: Record<string, number> = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
    const next = steps[event.key];
    if (next !== undefined && !event.shiftKey && !event.altKey) {
      this.point(view, (next + found.length) % found.length);
      return true;
    }
    if (event.key === "Escape") {
      this.close(view);
      return true;
    }
    const isChoice = (event.key === "Enter" || event.key === "Tab") && !event.shiftKey;
    const one = found[chosen];
    if (isChoice && one) this.choose(view, one);
    return isChoice;
  }

  plugin(seek?: Seek<T>): Plugin {
    const { sign, list, always = {} } = this.kind;
    return new Plugin<Open<T> | undefined>({
      key: this.#key,
      state: {
        init: () => undefined,
        apply: (tr, before, _old, state) => this.#apply(tr, before, state),
      },
      view: () => ({
        update: (view, before) => {
          const [was, now] = [this.of(before), this.of(view.state)];
          if (!seek || !now || (was?.at === now.at && was.typed === now.typed)) return;
          const { typed } = now;
          seek(typed, (found) => {
            if (!view.isDestroyed && this.of(view.state)) this.#change(view, { found, typed });
          });
        },
      }),
      props: {
        attributes: (state) => {
          const { found, chosen } = this.of(state) ?? { found: [], chosen: 0 };
          const one = found[chosen];
          if (!one) return always;
          return {
            ...always,
            "aria-controls": list,
            "aria-activedescendant": `${list}-${one.id}`,
          };
        },
        handleTextInput: (view, from, to, text) => {
          if (text !== sign || !isStart(view.state, from)) return false;
          const { tr } = view.state;
          view.dispatch(tr.insertText(sign, from, to).setMeta(this.#key, { open: from }));
          return true;
        },
        handleKeyDown: (view, event) => this.#onKey(view, event),
        handleDOMEvents: {
          blur: (view) => {
            this.close(view);
            return false;
          },
        },
      },
    });
  }
}
