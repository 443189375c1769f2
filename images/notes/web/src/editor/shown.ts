/** The blocks of a large page that have a layout, as ranges, and the style sheet that hides the others. Pure. */
import type { Node } from "prosemirror-model";

/** A range of blocks: from the first to the last, both included. */
export type Range = readonly [from: number, to: number];

/** The ranges in order, within the page, with its first and last block; those that touch become one. */
export function merged(count: number, wanted: readonly Range[]): Range[] {
  const last = count - 1;
  const cut = [...wanted, [0, 0], [last, last]].map(([from = 0, to = 0]) => [
    Math.max(0, Math.min(last, from)),
    Math.max(0, Math.min(last, to)),
  ]) as [number, number][];
  cut.sort((a, b) => a[0] - b[0]);
  const made: [number, number][] = [];
  for (const [from, to] of cut) {
    const before = made.at(-1);
    if (before && from <= before[1] + 1) before[1] = Math.max(before[1], to);
    else made.push([from, to]);
  }
  return made;
}

/** The ranges between. */
export const gaps = (ranges: readonly Range[]): Range[] =>
  ranges.slice(1).map(([from], at) => [(ranges[at] as Range)[1] + 1, from - 1]);

/**
 * The rules that hide what is between the ranges; the block after it keeps its height free.
 *
 * Paper gets the whole page.
 */
export function styleOf(
  blocks: string,
  ranges: readonly Range[],
  height: (gap: Range) => number,
): string {
  const rules = gaps(ranges).map(([from, to]) => {
    const space = Math.round(height([from, to]));
    return `${blocks}:nth-child(n+${from + 1}):nth-child(-n+${to + 1}){display:none}
${blocks}:nth-child(${to + 2}){margin-block-start:${space}px}`;
  });
  return `@media screen{${rules.join("\n")}}`;
}

const [LINE, MARGIN, SIGNS] = [28, 16, 85];

/** A guess at the height of a block that was never drawn, in CSS pixels. */
export function guess(node: Node): number {
  if (node.isTextblock || !node.childCount) {
    return Math.max(1, Math.ceil(node.content.size / SIGNS)) * LINE + MARGIN;
  }
  let sum = 0;
  // The cells of a row are side by side.
  if (node.type.name === "tableRow") return LINE + MARGIN;
  node.forEach((child) => {
    sum += guess(child);
  });
  return sum;
}
