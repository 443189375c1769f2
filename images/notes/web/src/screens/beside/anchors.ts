/**
 * Finds the passage of a comment in the text of a page. Decides from the two texts alone.
 *
 * The server stores the passage as a quote. A text here has its blocks separated by a line feed, and one space
 * for any other white space; both texts are compared with a space for each line feed.
 */

export interface Place {
  from: number;
  to: number;
}

/** The place of a quote. `isChanged`: only its beginning or its end is still there. */
export interface Found extends Place {
  isChanged: boolean;
}

/** A quote as the server stores it has at most so many characters. */
export const MOST_CHARACTERS = 2000;
/** A shorter quote is found only as it was written: its parts are everywhere. */
const FEWEST = 12;
/** So many characters are added on each side of a passage that occurs more than once. */
const WIDEST = 120;
/** A part of a quote with fewer characters may be there by chance. */
const FEWEST_OF_PART = 3;
/** Of a passage that occurs more often, the nearest of the first ones is taken. */
const MOST_PLACES = 500;
/** So many places are looked at for one that was written in: quotes may be made to cost time. */
const MOST_TRIED = 120;

/** A text as both are compared. */
export const flat = (text: string): string => text.replace(/\s+/g, " ").trim();

function places(text: string, part: string, most = MOST_PLACES): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (found.length >= most) break;
    found.push(at);
  }
  return found;
}

const nearest = (found: readonly number[], to: number): number | undefined =>
  found.reduce<number | undefined>(
    (best, at) => (best === undefined || Math.abs(at - to) < Math.abs(best - to) ? at : best),
    undefined,
  );

/** The longest end of `words` that is in the text. */
function longestEnd(text: string, words: readonly string[]): string {
  const end = (n: number): string => words.slice(words.length - n).join(" ");
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (text.includes(end(middle))) low = middle;
    else high = middle - 1;
  }
  return end(low);
}

/** So many characters of whole words has a quote in common with a text that begins, or ends, at a place. */
function common(text: string, quote: string, at: number, isEnd: boolean): number {
  let [same, whole] = [0, 0];
  while (same < quote.length) {
    const [mine, theirs] = isEnd ? [quote.length - 1 - same, at - 1 - same] : [same, at + same];
    if (quote[mine] !== text[theirs]) break;
    if (quote[mine] === " ") whole = same;
    same += 1;
  }
  return same === quote.length ? same : whole;
}

/** The beginnings, or ends, of a quote by which its places are looked for, the longest first. */
function beginnings(words: readonly string[], isEnd: boolean): string[] {
  const part = (n: number): string =>
    (isEnd ? words.slice(words.length - n) : words.slice(0, n)).join(" ");
  const all = [Math.ceil(words.length / 2), 3, 2, 1].filter((n) => n <= words.length).map(part);
  return [...new Set(all)].filter((one) => one.length >= FEWEST_OF_PART);
}

/** The place of a passage that was written in: half of it is left, from its beginning, its end, or both. */
function left(text: string, quote: string, near: number): Place | undefined {
  const words = quote.split(" ");
  if (quote.length < FEWEST || words.length < 2) return undefined;
  const within = 2 * quote.length;
  let best: (Place & { known: number }) | undefined;
  const offer = (from: number, to: number, known: number): void => {
    const isNearer = best && Math.abs(from - near) < Math.abs(best.from - near);
    if (!best || known > best.known || (known === best.known && isNearer))
      best = { from, to, known };
  };
  let tried = 0;
  for (const part of beginnings(words, false)) {
    for (const from of places(text, part, MOST_TRIED - tried)) {
      tried += 1;
      const head = common(text, quote, from, false);
      const rest = quote.slice(head).trim().split(" ");
      const after = text.slice(from + head, from + head + within);
      const tail = longestEnd(after, rest);
      if (tail.length < FEWEST_OF_PART) offer(from, from + head, head);
      else offer(from, from + head + after.indexOf(tail) + tail.length, head + tail.length);
    }
  }
  tried = 0;
  for (const part of beginnings(words, true)) {
    for (const at of places(text, part, MOST_TRIED - tried)) {
      tried += 1;
      const tail = common(text, quote, at + part.length, true);
      offer(at + part.length - tail, at + part.length, tail);
    }
  }
  return best && best.known * 2 >= quote.length ? best : undefined;
}

/** The place of a quote in a flat text, the nearest to `near` if it is there more than once. */
export function find(text: string, quoted: string, near = 0): Found | undefined {
  const quote = flat(quoted);
  if (!quote) return undefined;
  const from = nearest(places(text, quote), near);
  if (from !== undefined) return { from, to: from + quote.length, isChanged: false };
  const place = left(text, quote, near);
  return place && { from: place.from, to: place.to, isChanged: true };
}

/**
 * The passage to quote for a selection: without white space at its ends, and with words around it until it is
 * there once. `text` has its line feeds; the passage is not widened beyond its block.
 */
export function passage(text: string, selected: Place): Place | undefined {
  let { from, to } = selected;
  while (from < to && /\s/.test(text[from] as string)) from += 1;
  while (to > from && /\s/.test(text[to - 1] as string)) to -= 1;
  to = Math.min(to, from + MOST_CHARACTERS);
  if (from === to) return undefined;
  const plain = text.replaceAll("\n", " ");
  const first = Math.max(text.lastIndexOf("\n", from - 1) + 1, from - WIDEST);
  const end = text.indexOf("\n", to);
  const last = Math.min(end < 0 ? text.length : end, to + WIDEST);
  const isTwice = (): boolean => {
    const part = plain.slice(from, to);
    return plain.indexOf(part) !== plain.lastIndexOf(part);
  };
  for (let isBefore = true; isTwice() && (from > first || to < last); isBefore = !isBefore) {
    if ((isBefore && from > first) || to >= last) {
      from = Math.max(first, plain.lastIndexOf(" ", Math.max(0, from - 2)) + 1);
    } else {
      const next = plain.indexOf(" ", to + 1);
      to = next < 0 ? last : Math.min(last, next);
    }
    if (to - from >= MOST_CHARACTERS) break;
  }
  return { from, to: Math.min(to, from + MOST_CHARACTERS) };
}
