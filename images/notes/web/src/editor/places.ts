/**
 * Doubtful places: what was written at a place that somebody else has changed meanwhile, in both wordings.
 *
 * Invariant: a place stays in the list, and in the browser, until its person has decided.
 */
import { Fragment, type Node, Slice } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { schema } from "./schema";

/** A range of the document, and what its person had there. */
export interface Doubt {
  id: string;
  mine: Node[];
  from: number;
  to: number;
}

interface Change {
  added?: readonly Doubt[];
  removed?: string;
}

const key = new PluginKey<readonly Doubt[]>("doubts");

export const doubtsOf = (state: EditorState): readonly Doubt[] => key.getState(state) ?? [];

/** Keeps the ranges of doubtful places at their words. */
export const doubts = (): Plugin =>
  new Plugin<readonly Doubt[]>({
    key,
    state: {
      init: () => [],
      apply(tr, before) {
        const change = tr.getMeta(key) as Change | undefined;
        if (!tr.docChanged && !change) return before;
        const kept = before.filter((one) => one.id !== change?.removed);
        const moved = kept.map((one) => {
          const [from, to] = [tr.mapping.map(one.from, 1), tr.mapping.map(one.to, -1)];
          return { ...one, from: Math.min(from, to), to: Math.max(from, to) };
        });
        return [...moved, ...(change?.added ?? [])];
      },
    },
  });

export const withDoubts = (tr: Transaction, added: readonly Doubt[]): Transaction =>
  tr.setMeta(key, { added });

const words = (nodes: Fragment): string => nodes.textBetween(0, nodes.size, "\n", "▢");

export const mineOf = (one: Doubt): string => words(Fragment.from(one.mine));

/** What is at the place now. */
export function theirsOf({ doc }: EditorState, { from, to }: Doubt): string {
  const size = doc.content.size;
  return doc.textBetween(Math.min(from, size), Math.min(to, size), "\n", "▢");
}

/** What the place gets: its person's own wording, what is there, or that and then their own. */
export type Choice = "mine" | "theirs" | "both";

/** The choices of a place: "both" where both wordings have words. */
export const choicesOf = (state: EditorState, one: Doubt): readonly Choice[] =>
  mineOf(one) && theirsOf(state, one) ? ["mine", "theirs", "both"] : ["mine", "theirs"];

/** The decision of a person. */
export function decided(state: EditorState, id: string, choice: Choice): Transaction {
  const { tr } = state;
  const found = doubtsOf(state).find((one) => one.id === id);
  if (found && choice !== "theirs") {
    const size = state.doc.content.size;
    const [from, to] = [Math.min(found.from, size), Math.min(found.to, size)];
    const mine = Fragment.from(found.mine);
    if (choice === "both") addAfter(tr, to, mine);
    else if (mine.size) tr.replaceRange(from, to, new Slice(mine, 0, 0));
    else tr.delete(from, to);
  }
  return tr.setMeta(key, { removed: id });
}

/** Inserts blocks behind the block of a position, or behind the first around it that may be followed by them. */
function addAfter(tr: Transaction, pos: number, blocks: Fragment): void {
  let at = tr.doc.resolve(pos);
  if (at.parent.inlineContent && at.depth) at = tr.doc.resolve(at.after());
  while (at.depth && !at.parent.canReplace(at.index(), at.index(), blocks)) {
    at = tr.doc.resolve(at.after());
  }
  if (at.parent.canReplace(at.index(), at.index(), blocks)) tr.insert(at.pos, blocks);
  else tr.replaceRange(at.pos, at.pos, new Slice(blocks, 0, 0));
}

export const nodesOf = (json: readonly unknown[]): Node[] =>
  json.map((one) => schema.nodeFromJSON(one));
