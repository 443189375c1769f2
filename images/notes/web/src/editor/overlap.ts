/** Where unsent steps and those of others meet: what would be deleted unseen, and what has no place. Pure. */
import type { Node } from "prosemirror-model";
import type { Mapping, ReplaceStep, Step, StepMap } from "prosemirror-transform";

export interface Range {
  from: number;
  to: number;
}

/** A doubtful place: a range of the document before, with its content, and the range after. */
export interface Lost extends Range {
  mine: Node[];
}

export const moved = (ranges: readonly Range[], map: StepMap): Range[] =>
  ranges.map(({ from, to }) => ({ from: map.map(from, 1), to: map.map(to, -1) }));

export function insertedBy(map: StepMap): Range[] {
  const found: Range[] = [];
  map.forEach((_from, _to, from, to) => {
    if (to > from) found.push({ from, to });
  });
  return found;
}

/** The ranges in their order; those that touch are one. */
export function joined(ranges: readonly Range[]): Range[] {
  const made: Range[] = [];
  for (const one of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = made.at(-1);
    if (last && one.from <= last.to) last.to = Math.max(last.to, one.to);
    else made.push({ ...one });
  }
  return made;
}

/** What steps have inserted, in the document after them. */
export const writtenBy = (steps: readonly Step[]): Range[] =>
  steps.reduce<Range[]>(
    (all, step) => joined([...moved(all, step.getMap()), ...insertedBy(step.getMap())]),
    [],
  );

export const textIn = (doc: Node, from: number, to: number): string =>
  from < to ? doc.textBetween(from, to, "", "▢") : "";

/** True if a step would delete words of others that its author has not seen. */
export const takes = (doc: Node, { from, to }: ReplaceStep, theirs: readonly Range[]): boolean =>
  theirs.some((one) => textIn(doc, Math.max(from, one.from), Math.min(to, one.to)) !== "");

/** The blocks around a range; the range itself where there are none. */
export function blocksAround(doc: Node, { from, to }: Range): Range {
  const found = doc.resolve(from).blockRange(doc.resolve(to));
  return found ? { from: found.start, to: found.end } : { from, to };
}

/** The range that a step is about, in the document before it. */
export function about(step: Step): Range {
  const { from, to, pos = 0 } = step as unknown as Partial<Range> & { pos?: number };
  return { from: from ?? pos, to: to ?? pos + 1 };
}

/** The ranges that a step has changed, in the document after it. */
function changedBy(step: Step): (Range & { isTaking: boolean })[] {
  const found: (Range & { isTaking: boolean })[] = [];
  step.getMap().forEach((start, end, from, to) => found.push({ from, to, isTaking: end > start }));
  // A mark or an attribute moves nothing.
  return found.length ? found : [{ ...about(step), isTaking: true }];
}

/** The places of the steps with the numbers `lost`, which made `doc` together with the others. */
export function placesOf(
  doc: Node,
  own: readonly { step: Step }[],
  lost: readonly number[],
  mapping: Mapping,
): Lost[] {
  const ranges: Range[] = [];
  for (const index of lost) {
    const one = own[index] as { step: Step };
    for (const changed of changedBy(one.step)) {
      let { from, to } = changed;
      for (const { step } of own.slice(index + 1)) {
        [from, to] = [step.getMap().map(from, -1), step.getMap().map(to, 1)];
      }
      // What was written and taken away again was not lost.
      if (textIn(doc, from, to) === "" && !changed.isTaking) continue;
      ranges.push(blocksAround(doc, { from, to }));
    }
  }
  return joined(ranges).map(({ from, to }) => {
    const isPoint = from === to;
    const [a, b] = [mapping.map(from, isPoint ? -1 : 1), mapping.map(to, isPoint ? 1 : -1)];
    const mine: Node[] = [];
    doc.slice(from, to).content.forEach((node) => mine.push(node));
    return { mine, from: Math.min(a, b), to: Math.max(a, b) };
  });
}
