/**
 * Marks the passages of comments in the text that is shown, while it is read and while it is edited.
 *
 * The marks are highlights of the browser: they change no element, so neither the text's drawing nor the
 * editor knows of them. A browser without highlights shows the comments, but no marks.
 */
import { find, type Place, passage } from "./anchors";

export interface Anchor {
  id: string;
  quote: string;
  /** `changed`: the passage was written in. `gone`: it is not in the text any more. */
  state: "found" | "changed" | "gone";
  range?: Range;
  /** Its place in the text, for the order of the threads. */
  at: number;
}

interface Part {
  node: Text;
  at: number;
  /** True if a white space at its beginning belongs to the one before. */
  isAfterSpace: boolean;
}

interface Flat {
  text: string;
  parts: Part[];
}

/** What readers and editors see at different places, or not as text. */
const LEFT_OUT = "[contenteditable=false], [role=img], sup[data-label], sup[id^='fnref'], .upload";
const BLOCKS = /^(?:P|H[1-6]|LI|PRE|TD|TH|DIV|BLOCKQUOTE|SECTION|UL|OL|TABLE|TR)$/;

/** The element with the text of the page that is shown. */
export const textOfPage = (): HTMLElement | null => document.querySelector("#main .reading .prose");

function flatOf(root: HTMLElement): Flat {
  const parts: Part[] = [];
  const pieces: string[] = [];
  let [length, last] = [0, "\n"];
  const add = (piece: string): void => {
    pieces.push(piece);
    length += piece.length;
    last = piece[piece.length - 1] as string;
  };
  const block = (): void => {
    if (last === " ") {
      pieces.push((pieces.pop() as string).slice(0, -1));
      length -= 1;
      last = "";
    }
    if (last !== "\n") add("\n");
  };
  const visit = (element: Element): void => {
    for (const child of element.childNodes) {
      if (child instanceof Text) {
        const isAfterSpace = last === " " || last === "\n";
        parts.push({ node: child, at: length, isAfterSpace });
        const piece = squeezed(child.data, isAfterSpace);
        if (piece) add(piece);
      } else if (child instanceof Element && !child.matches(LEFT_OUT)) {
        if (child.tagName === "BR" && last !== " " && last !== "\n") add(" ");
        const isBlock = BLOCKS.test(child.tagName);
        if (isBlock) block();
        visit(child);
        if (isBlock) block();
      }
    }
  };
  visit(root);
  return { text: pieces.join(""), parts };
}

const squeezed = (data: string, isAfterSpace: boolean): string => {
  const text = data.replace(/[\s\u200b\ufeff]+/g, " ");
  return isAfterSpace && text.startsWith(" ") ? text.slice(1) : text;
};

/** The last part that begins at or before a place. */
function partAt(parts: readonly Part[], at: number): Part | undefined {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((parts[middle] as Part).at <= at) low = middle;
    else high = middle - 1;
  }
  return parts[low];
}

/** The offset in a text node after `count` characters of its squeezed text. */
function offsetIn({ node, isAfterSpace }: Part, count: number): number {
  let [seen, wasSpace] = [0, isAfterSpace];
  for (let at = 0; at < node.data.length; at += 1) {
    const isSpace = /[\s\u200b\ufeff]/.test(node.data[at] as string);
    if (!(isSpace && wasSpace)) {
      if (seen === count) return at;
      seen += 1;
    }
    wasSpace = isSpace;
  }
  return node.data.length;
}

function rangeOf({ parts }: Flat, { from, to }: Place): Range | undefined {
  const [first, last] = [partAt(parts, from), partAt(parts, to - 1)];
  if (!first || !last) return undefined;
  const range = document.createRange();
  range.setStart(first.node, offsetIn(first, from - first.at));
  range.setEnd(last.node, Math.min(last.node.data.length, offsetIn(last, to - 1 - last.at) + 1));
  return range;
}

/** The place of a boundary of a range in the flat text. */
function placeOf(flat: Flat, node: Node, offset: number): number {
  if (node instanceof Text) {
    const part = flat.parts.find((one) => one.node === node);
    if (part) return part.at + squeezed(node.data.slice(0, offset), part.isAfterSpace).length;
  }
  const point = document.createRange();
  point.setStart(node, offset);
  const next = flat.parts.find((one) => point.comparePoint(one.node, 0) >= 0);
  return next ? next.at : flat.text.length;
}

/** The passage of the text that is selected, to quote it; undefined without a selection there. */
export function selected(): { quote: string; range: Range } | undefined {
  const root = textOfPage();
  const selection = getSelection();
  if (!root || !selection || selection.isCollapsed || !selection.rangeCount) return undefined;
  const given = selection.getRangeAt(0);
  if (!root.contains(given.commonAncestorContainer)) return undefined;
  const flat = flatOf(root);
  const place = passage(flat.text, {
    from: placeOf(flat, given.startContainer, given.startOffset),
    to: placeOf(flat, given.endContainer, given.endOffset),
  });
  const range = place && rangeOf(flat, place);
  return place && range && { quote: flat.text.slice(place.from, place.to), range };
}

/** True while the mark of an earlier look still encloses text of the page. */
const holds = (root: HTMLElement, range: Range | undefined, quote: string): range is Range =>
  range !== undefined &&
  !range.collapsed &&
  root.contains(range.commonAncestorContainer) &&
  range.toString().length * 2 >= quote.length;

/** Finds the passages in the text; where one was written in, its mark from `before` stays. */
export function anchorsIn(
  root: HTMLElement,
  wanted: readonly { id: string; quote: string }[],
  before: ReadonlyMap<string, Anchor>,
): Map<string, Anchor> {
  const flat = flatOf(root);
  const text = flat.text.replaceAll("\n", " ");
  const made = new Map<string, Anchor>();
  for (const { id, quote } of wanted) {
    const known = before.get(id);
    const found = find(text, quote, known?.at ?? 0);
    if (found?.isChanged !== false && holds(root, known?.range, quote)) {
      made.set(id, { ...(known as Anchor), state: "changed" });
      continue;
    }
    const range = found && rangeOf(flat, found);
    if (!found || !range) made.set(id, { id, quote, state: "gone", at: Number.MAX_SAFE_INTEGER });
    else
      made.set(id, {
        id,
        quote,
        state: found.isChanged ? "changed" : "found",
        range,
        at: found.from,
      });
  }
  return made;
}

const NAMES = ["notes-comment", "notes-comment-now"] as const;

/** Draws the marks; `now` is the thread, or the new comment, that stands out. */
export function drawMarks(anchors: Iterable<Anchor>, now: string): void {
  if (typeof Highlight === "undefined") return;
  const [all, one] = [new Highlight(), new Highlight()];
  for (const { id, range } of anchors) if (range) (id === now ? one : all).add(range);
  one.priority = 1;
  CSS.highlights.set(NAMES[0], all);
  CSS.highlights.set(NAMES[1], one);
}

export function clearMarks(): void {
  if (typeof Highlight === "undefined") return;
  for (const name of NAMES) CSS.highlights.delete(name);
}

/** The threads whose passage is under a point of the window, the shortest passage first. */
export function threadsAt(anchors: Iterable<Anchor>, x: number, y: number): string[] {
  const found: { id: string; length: number }[] = [];
  for (const { id, range } of anchors) {
    for (const box of range?.getClientRects() ?? []) {
      if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
      found.push({ id, length: range?.toString().length ?? 0 });
      break;
    }
  }
  return found.sort((a, b) => a.length - b.length).map((one) => one.id);
}

/** The thread at the caret or the selection, if it is in a passage. */
export function threadAtCaret(anchors: Iterable<Anchor>): string | undefined {
  const selection = getSelection();
  const node = selection?.focusNode;
  if (!node || !textOfPage()?.contains(node)) return undefined;
  for (const { id, range } of anchors) {
    if (range?.comparePoint(node, selection.focusOffset) === 0) return id;
  }
  return undefined;
}

/** Scrolls to a passage unless it is in sight. */
export function showPassage({ range }: Anchor): void {
  const main = document.getElementById("main");
  if (!range || !main) return;
  const [box, view] = [range.getBoundingClientRect(), main.getBoundingClientRect()];
  const beside = document.querySelector("aside#beside")?.getBoundingClientRect();
  // On a phone the panel covers the lower part of the text.
  const isBelow = beside !== undefined && beside.top > view.top && beside.left <= view.left;
  const end = isBelow ? beside.top : view.bottom;
  if (box.top >= view.top && box.bottom <= end) return;
  main.scrollBy({ top: box.top - view.top - (end - view.top) / 3 });
}
