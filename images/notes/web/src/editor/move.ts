/** Moves blocks by keys. */
import type { Node } from "prosemirror-model";
import { type Command, type EditorState, NodeSelection, TextSelection } from "prosemirror-state";

interface Blocks {
  parent: Node;
  /** Where the parent's content begins. */
  start: number;
  first: number;
  last: number;
}

/** The blocks of the selection: whole items in a list, else blocks of the page or of what holds them. */
function chosen(state: EditorState): Blocks | undefined {
  const range = state.selection.$from.blockRange(state.selection.$to);
  if (!range) return undefined;
  const { $from } = state.selection;
  let { depth } = range;
  // An item moves with all that is in it.
  while (depth > 0 && /Item$|^table/.test(range.$from.node(depth).type.name)) depth -= 1;
  const $to = state.selection.$to;
  return {
    parent: $from.node(depth),
    start: $from.start(depth),
    first: $from.index(depth),
    last: $to.index(depth),
  };
}

const sizeOf = (parent: Node, from: number, to: number): number => {
  let size = 0;
  for (let at = from; at < to; at += 1) size += parent.child(at).nodeSize;
  return size;
};

/** Moves the blocks of the selection before the one above them, or behind the one below. */
export const moveBlocks =
  (step: -1 | 1): Command =>
  (state, dispatch) => {
    const found = chosen(state);
    if (!found) return false;
    const { parent, start, first, last } = found;
    const other = step < 0 ? first - 1 : last + 1;
    if (other < 0 || other >= parent.childCount) return false;
    // The header of a table stays the first row.
    if (parent.type.name === "table") return false;
    const passed = parent.child(other);
    const from = start + sizeOf(parent, 0, first);
    const to = start + sizeOf(parent, 0, last + 1);
    // The other block moves, so that the caret and its line stay as they are.
    const { tr } = state;
    if (step < 0) {
      tr.insert(to, passed).delete(from - passed.nodeSize, from);
    } else {
      tr.delete(to, to + passed.nodeSize).insert(from, passed);
    }
    const { anchor, head } = state.selection;
    const shift = step * passed.nodeSize;
    tr.setSelection(
      state.selection instanceof NodeSelection
        ? NodeSelection.create(tr.doc, anchor + shift)
        : TextSelection.create(tr.doc, anchor + shift, head + shift),
    );
    dispatch?.(tr.scrollIntoView());
    return true;
  };
