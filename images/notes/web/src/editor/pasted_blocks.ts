/**
 * Puts the blocks of a pasted text in its place. It is loaded when a text is Markdown, and imports nothing of the
 * editor, which that would split.
 */
import type { Fragment, Node, ResolvedPos, Slice } from "prosemirror-model";
import type { EditorState, Selection, Transaction } from "prosemirror-state";
import type { Doc } from "../doc/types";

const MAX_DEPTH = 40;

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

/** Puts the blocks of a document in place of the text between two places; undefined where they do not fit. */
export function inPlace(
  state: EditorState,
  { from, to }: { from: number; to: number },
  given: Doc,
  relabelled: (content: Fragment, doc: Node) => Fragment,
): Transaction | undefined {
  const $from = state.doc.resolve(from);
  const read = state.schema.nodeFromJSON(given);
  const doc = read.copy(relabelled(read.content, state.doc));
  // Every slice and selection has it from its class.
  const Part = state.doc.slice(0, 0).constructor as typeof Slice;
  const kind = state.selection.constructor as typeof Selection;
  const [blocks, notes]: [Node[], Node[]] = [[], []];
  doc.forEach((node) => (node.type.name === "footnote" ? notes : blocks).push(node));
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (!first || !last || $from.depth + depthOf(doc) > MAX_DEPTH) return undefined;
  const isLine = blocks.length === 1 && first.type.name === "paragraph";
  if (!isLine && isInside($from, "tableCell", "tableHeader")) return undefined;
  if (isInside($from, "codeBlock", "htmlBlock")) return undefined;
  const content = doc.content.cut(
    0,
    blocks.reduce((size, one) => size + one.nodeSize, 0),
  );
  const open = Part.maxOpen(content, false);
  const continues = /List$/.test(first.type.name) && isInside($from, "listItem", "taskItem");
  const slice = new Part(
    content,
    first.type.name === "paragraph" ? 1 : continues ? open.openStart : 0,
    last.type.name === "paragraph" ? 1 : continues && blocks.length === 1 ? open.openEnd : 0,
  );
  const { tr } = state;
  tr.replaceRange(from, to, slice);
  const end = tr.mapping.map(to);
  if (notes.length) tr.insert(tr.doc.content.size, notes);
  return tr.setSelection(kind.near(tr.doc.resolve(end), -1));
}
