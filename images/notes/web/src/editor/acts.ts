/** What the text's keys do, also by a button or from the palette: for a touch screen, or a mouse alone. */
import { toggleMark } from "prosemirror-commands";
import { liftListItem, sinkListItem } from "prosemirror-schema-list";
import type { Command, EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Act } from "../app/commands";
import { words } from "../app/words";
import { anyItem, mark } from "./keys";
import { moveBlocks } from "./move";
import type { Tool } from "./tool";

const marking = (sign: string, name: string) => ({
  ...{ sign, run: toggleMark(mark(name)) },
  isOn({ selection, storedMarks, doc }: EditorState): boolean {
    const { $from, from, to, empty } = selection;
    if (!empty) return doc.rangeHasMark(from, to, mark(name));
    return mark(name).isInSet(storedMarks ?? $from.marks()) !== undefined;
  },
});

interface Made {
  sign: string;
  run: Command;
  isOn?: (state: EditorState) => boolean;
}

const ACTS: Record<Act, Made> = {
  underline: marking("U", "underline"),
  highlight: marking("▮", "highlight"),
  subscript: marking("x₂", "subscript"),
  superscript: marking("x²", "superscript"),
  moveUp: { sign: "⭡", run: moveBlocks(-1) },
  moveDown: { sign: "⭣", run: moveBlocks(1) },
  outdent: { sign: "⇤", run: anyItem(liftListItem) },
  indent: { sign: "⇥", run: anyItem(sinkListItem) },
  version: {
    sign: "✓",
    run: (_state, _dispatch, view) => view?.dom.dispatchEvent(new Event("keep")) ?? false,
  },
};

export function act(view: EditorView, name: Act): void {
  ACTS[name].run(view.state, view.dispatch, view);
  view.focus();
}

/** The tools of the second bar. */
export const tools = (state: EditorState): Tool[] =>
  (Object.entries(ACTS) as [Act, Made][]).map(([name, { sign, run, isOn }]) => ({
    ...{ sign, run, name: words.value.acts[name] },
    ...(isOn ? { isOn: isOn(state) } : {}),
  }));
