/**
 * The carets and selections of other people in the text.
 *
 * A caret comes as positions in the page's document after an edit. It is kept as such and mapped over the
 * edits of the log; only what is drawn is mapped over the unsent steps as well. Invariant: whatever a client
 * says of its caret, the editor goes on: a caret that has no place is not drawn.
 */
import {
  type EditorState,
  Plugin,
  PluginKey,
  Selection,
  type Transaction,
} from "prosemirror-state";
import type { StepMap } from "prosemirror-transform";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import type { Caret, CaretOf } from "../api/types";
import { readInput } from "./input";
import { acceptedPos, entry, shownPos } from "./unsent";

/** Edits over which a caret that comes late can be mapped. */
const KEPT = 200;
/** So much of a selection is drawn on each side of its caret. */
const DRAWN = 5000;
const LABEL = 40;
const COLOURS = 6;

interface Passed {
  from: number;
  seq: number;
  author: string | null;
  maps: readonly StepMap[];
}

interface Found {
  seq: number;
  passed: readonly Passed[];
  told: readonly CaretOf[];
  drawn: DecorationSet;
}

const key = new PluginKey<Found>("carets");

/** The same colour for a person on every screen. */
export const colourOf = (id: string): number =>
  [...id].reduce((sum, sign) => sum + sign.charCodeAt(0), 0) % COLOURS;

/** A caret after the edits that are known since; one of a later edit stays as it is. */
function brought(caret: CaretOf, passed: readonly Passed[]): CaretOf {
  let { seq, anchor, head } = caret;
  for (const one of passed) {
    if (one.from !== seq) continue;
    // What a person types is before their own caret, and what others type there behind it.
    const side = one.author === caret.id ? 1 : -1;
    for (const map of one.maps) [anchor, head] = [map.map(anchor, side), map.map(head, side)];
    seq = one.seq;
  }
  return { ...caret, seq, anchor, head };
}

function label(name: string, colour: number): HTMLElement {
  const dom = document.createElement("span");
  dom.className = `caret person-${colour}`;
  // Who is here is said beside the title; at each key it would be noise.
  dom.ariaHidden = "true";
  // Drawn by the style sheet: neither a copy of the text nor a search in it has the name.
  dom.dataset.name = name.slice(0, LABEL);
  return dom;
}

function decorationsOf(state: EditorState, caret: CaretOf): Decoration[] {
  const { doc } = state;
  const place = (pos: number): number =>
    Math.max(0, Math.min(doc.content.size, shownPos(state, pos, -1)));
  const $head = doc.resolve(place(caret.head));
  const head = $head.parent.inlineContent ? $head.pos : Selection.near($head).head;
  const anchor = caret.anchor === caret.head ? head : place(caret.anchor);
  const colour = colourOf(caret.id);
  const [from, to] = [
    Math.max(Math.min(anchor, head), head - DRAWN),
    Math.min(Math.max(anchor, head), head + DRAWN),
  ];
  const made = [
    Decoration.widget(head, () => label(caret.name, colour), {
      key: `${caret.id} ${caret.name}`,
      side: 1,
      ignoreSelection: true,
    }),
  ];
  if (from < to) made.push(Decoration.inline(from, to, { class: `chosen person-${colour}` }));
  return made;
}

function draw(state: EditorState, { seq, told }: Pick<Found, "seq" | "told">): DecorationSet {
  const here = told.filter((one) => one.seq === seq);
  if (!here.length) return DecorationSet.empty;
  const made: Decoration[] = [];
  for (const caret of here) {
    try {
      made.push(...decorationsOf(state, caret));
    } catch {
      // It has no place.
    }
  }
  return DecorationSet.create(state.doc, made);
}

/** The others have these carets; they replace those that were told before. */
export const meet = (state: EditorState, told: readonly CaretOf[]): Transaction =>
  state.tr.setMeta(key, told).setMeta("addToHistory", false);

/** The selection in the page's document after the last edit that is known here. */
export function caretOf(state: EditorState): Caret | undefined {
  const seq = key.getState(state)?.seq;
  if (seq === undefined) return undefined;
  const { anchor, head } = state.selection;
  return { seq, anchor: acceptedPos(state, anchor), head: acceptedPos(state, head) };
}

/** Draws the carets of others in a document that is at the edit `seq`; `moved` hears of the own one. */
export function carets(seq: number, moved: () => void): Plugin {
  let shown: EditorView | undefined;
  return new Plugin<Found>({
    key,
    state: {
      init: () => ({ seq, passed: [], told: [], drawn: DecorationSet.empty }),
      apply(tr, before, _old, state) {
        let { seq: at, passed, told } = before;
        const next = entry(tr);
        if (next) {
          passed = [...passed, { ...next, from: at }].slice(-KEPT);
          at = next.seq;
        }
        const given = tr.getMeta(key) as readonly CaretOf[] | undefined;
        if (given || next) told = (given ?? told).map((one) => brought(one, passed));
        // While letters are composed what is drawn beside them stays as it is.
        const drawn = shown?.composing
          ? before.drawn.map(tr.mapping, tr.doc)
          : draw(state, { seq: at, told });
        return { seq: at, passed, told, drawn };
      },
    },
    props: {
      decorations: (state) => key.getState(state)?.drawn,
      handleDOMEvents: {
        compositionend(view) {
          setTimeout(() => {
            if (view.isDestroyed) return;
            readInput(view);
            view.dispatch(view.state.tr.setMeta("addToHistory", false));
          }, 50);
        },
      },
    },
    view(view) {
      shown = view;
      moved();
      return {
        update(_view, before) {
          const isMoved =
            !view.state.selection.eq(before.selection) || view.state.doc !== before.doc;
          if (isMoved) moved();
        },
        destroy() {
          shown = undefined;
        },
      };
    },
  });
}
