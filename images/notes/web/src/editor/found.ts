/** Finds a text in a document, without regard to case and accents. Pure. */
import type { Node } from "prosemirror-model";
import { fold } from "../app/match";

interface Folded {
  text: string;
  /** The place in the block of each character of `text`, and of its end; undefined where they are the same. */
  places?: number[];
}

/** What stands for a picture, a footnote's sign, a line break: one place, as in the document. */
const LEAF = "\ufffc";
const PLAIN = /^[\0-\x7f]*$/;

function foldedOf(block: Node): Folded {
  const text = block.textBetween(0, block.content.size, undefined, LEAF);
  if (PLAIN.test(text)) return { text: text.toLowerCase() };
  const made = { text: "", places: [] as number[] };
  let at = 0;
  for (const sign of text) {
    // An accent of its own becomes nothing, a ligature several letters.
    const folded = fold(sign);
    for (let each = 0; each < folded.length; each++) made.places.push(at);
    made.text += folded;
    at += sign.length;
  }
  made.places.push(at);
  return made;
}

/** Keeps what it has made of each block: a key changes one of them. */
export class Finder {
  readonly #known = new WeakMap<Node, Folded>();

  /** Where each hit begins and ends, in turn; none goes over the end of a block. */
  find(doc: Node, typed: string): number[] {
    const wanted = fold(typed);
    const found: number[] = [];
    if (!wanted) return found;
    doc.descendants((block, pos) => {
      if (!block.isTextblock) return true;
      let folded = this.#known.get(block);
      if (!folded) this.#known.set(block, (folded = foldedOf(block)));
      const { text, places } = folded;
      const from = pos + 1;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const end = at + wanted.length;
        found.push(from + (places?.[at] ?? at), from + (places?.[end] ?? end));
      }
      return false;
    });
    return found;
  }
}

/** The number of the first hit at or after a place; of the first one if there is none. */
export function firstFrom(hits: readonly number[], place: number): number {
  let [low, high] = [0, hits.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((hits[2 * middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  return low < hits.length / 2 ? low : 0;
}
