/** The line above the text that says how full a page is, and why a change was not done. */
import type { EditorView } from "prosemirror-view";
import { en, type WritingWords } from "../words/writing_en";

export type Limit = "levels" | "nodes" | "text";
/** How much of it a part of a page has, and how many pictures of other sites. */
export type Weight = Record<Limit | "foreign", number>;

/** Given, not imported: this chunk imports nothing of the first one, which that would split. */
export interface Told {
  words: (en: WritingWords) => Promise<WritingWords>;
  most: Record<Limit, number>;
  /** How much of it the page has. */
  full: Weight;
  nearly: number;
}

const lines = new WeakMap<EditorView, HTMLElement>();

function lineOf(view: EditorView): HTMLElement {
  const found = lines.get(view);
  if (found) return found;
  const made = document.createElement("p");
  made.className = "refused limits";
  // Alone, so that a screen reader says each change of it.
  made.setAttribute("role", "status");
  made.dataset.limits = "";
  view.dom.before(made);
  lines.set(view, made);
  return made;
}

/** Says what the page lacks room for, if anything; `limit` is what a change went beyond. */
export async function tell(
  view: EditorView,
  limit: Limit | undefined,
  { words, most, full, nearly }: Told,
): Promise<void> {
  const w = await words(en);
  if (view.isDestroyed) return;
  const near = (["text", "nodes"] as const).find((one) => full[one] > most[one] * nearly);
  const said = [
    ...(limit ? [w.refusedBy[limit](most[limit])] : []),
    // Whole parts of a hundred: not at each key.
    ...(near ? [w.nearly[near](Math.floor((100 * full[near]) / most[near]), most[near])] : []),
  ].join(" ");
  const line = lineOf(view);
  if (line.textContent !== said) line.textContent = said;
  line.hidden = !said;
}
