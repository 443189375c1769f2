/**
 * Finds what has come back at an awaited place, and changes it again as its person had changed it.
 *
 * Pure. What comes back otherwise is a doubtful place.
 */
import type { Node } from "prosemirror-model";
import type { EditorState, Transaction } from "prosemirror-state";
import type { Awaited } from "./awaited";
import { blocksAround, type Lost, type Range, textIn } from "./overlap";
import { difference, shownPos } from "./unsent";

/** More positions are not searched for what comes back. */
const MOST_SEARCHED = 5000;

/** True if at least half of a text is at the ends of another one. */
function resembles(found: string, wanted: string): boolean {
  const most = Math.min(found.length, wanted.length);
  let [start, end] = [0, 0];
  while (start < most && found[start] === wanted[start]) start += 1;
  while (end < most - start && found.at(-1 - end) === wanted.at(-1 - end)) end += 1;
  return start + end > 0 && (start + end) * 2 >= wanted.length;
}

const nodesIn = (doc: Node, { from, to }: Range): Node[] => [
  ...doc.slice(from, to).content.content,
];

/**
 * What becomes of a place after others have written `written`, ranges of the server's document: a change, or a doubtful
 * place; undefined while nothing has come back.
 */
export function settled(
  state: EditorState,
  one: Awaited,
  written: readonly Range[],
): Transaction | Lost | undefined {
  const { doc, tr } = state;
  const { before, after } = one;
  const [{ from, to }, ...fresh] = [one, ...written].map((range) => ({
    from: shownPos(state, range.from, 1),
    to: shownPos(state, range.to, -1),
  })) as [Range, ...Range[]];
  const shared = fresh.filter((range) => range.from < to && from < range.to);
  if (!shared.length) return undefined;
  const replaced = (start: number, end: number): Node | undefined => {
    try {
      return doc.replace(start, end, after);
    } catch {
      return undefined;
    }
  };
  const last = Math.min(to - before.size, from + MOST_SEARCHED);
  for (let at = from; at <= last; at += 1) {
    // What its person has written there is not what others have sent again.
    if (!shared.some((range) => range.from < at + before.size && at < range.to)) continue;
    if (!doc.slice(at, at + before.size).eq(before)) continue;
    const wanted = replaced(at, at + before.size);
    if (!wanted) break;
    for (const step of difference(doc, wanted)) tr.step(step);
    return tr;
  }
  const text = before.content.textBetween(0, before.content.size, "", "▢");
  const [start, end] = [shared[0]?.from ?? from, shared.at(-1)?.to ?? to];
  const texts = [textIn(doc, from, to), textIn(doc, Math.max(from, start), Math.min(to, end))];
  if (!texts.some((found) => resembles(found, text))) return undefined;
  const wanted = replaced(from, to);
  const mine = wanted
    ? nodesIn(wanted, blocksAround(wanted, { from, to: from + after.size }))
    : [...after.content.content];
  return { mine, ...blocksAround(doc, { from, to }) };
}
