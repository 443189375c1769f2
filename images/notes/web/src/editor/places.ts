/**
 * Doubtful places: what was written at a place that somebody else has changed meanwhile, in both wordings.
 *
 * Invariant: a place stays in the list, and in the browser, until its person has decided.
 */
import type { Node } from "prosemirror-model";
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

/** The place is doubtful no more. */
export const withoutDoubt = (tr: Transaction, removed: string): Transaction =>
  tr.setMeta(key, { removed });

export const withDoubts = (tr: Transaction, added: readonly Doubt[]): Transaction =>
  tr.setMeta(key, { added });

export const nodesOf = (json: readonly unknown[]): Node[] =>
  json.map((one) => schema.nodeFromJSON(one));
