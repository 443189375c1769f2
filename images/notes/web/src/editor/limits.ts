/**
 * The limits of a page, as the server counts them (`steps/checks.py`): what goes beyond is refused before it is in the
 * text, so all that is in the text can be saved.
 */
import type { Node } from "prosemirror-model";
import type { Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { catalogue } from "../app/words";
import { load } from "../words/catalogues";
import type { WritingWords } from "../words/writing_en";
import type { Limit, Weight } from "./limits_told";

const MOST: Record<Limit, number> = { levels: 39, nodes: 100_000, text: 2_000_000 };

/** The words of what the editor says seldom. */
export const writing = (en: WritingWords): Promise<WritingWords> =>
  load("writing", catalogue.value, en);

/** From here on a person is told how full a page is. */
const NEARLY = 0.95;
const LEVELS = new Set([
  ...["listItem", "taskItem", "blockquote", "tableHeader", "tableCell", "footnote"],
]);

/** True for a picture that lies on another site: the policy forbids to load it. */
export const isForeign = ({ type, attrs }: Node): boolean =>
  type.name === "image" && !/^\/(?!\/)/.test(attrs.src);

/** What was counted before: a key changes one block of a page. */
const known = new WeakMap<Node, Weight>();

/** Counts a document, or a part of one. */
export function weigh(node: Node): Weight {
  const before = known.get(node);
  if (before) return before;
  const text = node.text?.length ?? 0;
  const made = { levels: 0, nodes: 1, text, foreign: isForeign(node) ? 1 : 0 };
  for (const value of Object.values(node.attrs))
    if (typeof value === "string") made.text += value.length;
  node.forEach((child) => {
    const { levels, nodes, text, foreign } = weigh(child);
    made.levels = Math.max(made.levels, levels);
    // Saving looks at each footnote twice.
    made.nodes += nodes + (child.type.name === "footnote" ? 1 : 0);
    made.text += text;
    made.foreign += foreign;
  });
  if (LEVELS.has(node.type.name)) made.levels += 1;
  known.set(node, made);
  return made;
}

/** Counts a document of which one block alone differs from another one's, as after a key; else does nothing. */
function noteByOneBlock(before: Node, after: Node): void {
  const [old, now] = [before.content.content, after.content.content];
  const [is, more] = now.filter((one, at) => one !== old[at]);
  const was = is && old[now.indexOf(is)];
  if (!was || more || was.type !== is.type || old.length !== now.length) return;
  const [all, gone, made] = [weigh(before), weigh(was), weigh(is)];
  if (made.levels < gone.levels) return;
  const sum = { ...all, levels: Math.max(all.levels, made.levels) };
  for (const one of ["nodes", "text", "foreign"] as const) sum[one] += made[one] - gone[one];
  known.set(after, sum);
}

/** The limit that a change goes beyond, or further beyond; undefined if there is none. */
export function beyond(before: Node, after: Node): Limit | undefined {
  noteByOneBlock(before, after);
  const [old, now] = [weigh(before), weigh(after)];
  return (Object.keys(MOST) as Limit[]).find((one) => now[one] > MOST[one] && now[one] > old[one]);
}

let isTelling = false;

/** True if a person's change goes beyond a limit: it is not done, and they are told why. */
export function refuses(view: EditorView, tr: Transaction): boolean {
  if (!tr.docChanged) return false;
  const limit = beyond(view.state.doc, tr.doc);
  const { nodes, text } = weigh(tr.doc);
  const isNearly = nodes > MOST.nodes * NEARLY || text > MOST.text * NEARLY;
  if (limit || isNearly || isTelling) {
    isTelling = true;
    const full = weigh(limit ? view.state.doc : tr.doc);
    const told = { words: writing, most: MOST, full, nearly: NEARLY };
    void import("./limits_told").then(({ tell }) => tell(view, limit, told)).catch(() => undefined);
  }
  return limit !== undefined;
}
