/**
 * Own steps about what others wrote, which a failover has lost together with it: they wait until it is sent again.
 *
 * Pure. Invariant: an awaited place lies in the server's document. What comes back there exactly as it was is changed
 * again as its person had changed it; what comes back otherwise is a doubtful place.
 */
import { type Node, Slice } from "prosemirror-model";
import {
  AddMarkStep,
  Mapping,
  RemoveMarkStep,
  ReplaceStep,
  type Step,
  type StepMap,
  Transform,
} from "prosemirror-transform";
import type { StoredAwaited } from "../sync/stored";
import { about, insertedBy, joined, moved, type Range } from "./overlap";
import { schema } from "./schema";

/** A range that grows by what others write there; `before` is expected in it, and becomes `after`. */
export interface Awaited extends Range {
  before: Slice;
  after: Slice;
}

/** A step of an editor, its own or one of others that the server has lost. */
interface Made {
  step: Step;
  isOwn: boolean;
}

/** What is known of the steps: their numbers, and what the steps of others were that came instead. */
export interface Known {
  /** Those that are doubtful places already. */
  lost: readonly number[];
  /** Those that found their place. */
  done: ReadonlySet<number>;
  /** The ranges that others wrote, in the document after their steps. */
  written: readonly Range[];
  /** What takes back a difference to an older document: what it deletes was lost, too. */
  loss: readonly Step[];
}

const MOST_AWAITED = 50;

/** The parts of an own step that are about what others wrote; of one that found its place, a change of blocks has none. */
function partsOf(step: Step, theirs: readonly Range[], isDone: boolean): Step[] {
  const { from, to } = about(step);
  const shared = theirs.filter((one) => one.from < to && from < one.to);
  const isMark = step instanceof AddMarkStep || step instanceof RemoveMarkStep;
  if (!isMark && !(step instanceof ReplaceStep)) return isDone || !shared.length ? [] : [step];
  return shared.map((one) => {
    const [start, end] = [Math.max(from, one.from), Math.min(to, one.to)];
    if (step instanceof AddMarkStep) return new AddMarkStep(start, end, step.mark);
    if (step instanceof RemoveMarkStep) return new RemoveMarkStep(start, end, step.mark);
    return new ReplaceStep(start, end, Slice.empty);
  });
}

/** Ranges after a step, with what it has inserted if it is one of others. */
const after = (ranges: readonly Range[], map: StepMap, isOwn: boolean): Range[] =>
  joined(
    [...moved(ranges, map), ...(isOwn ? [] : insertedBy(map))].filter(({ from, to }) => from < to),
  );

/** A position with the ranges that touch it. */
const grown = (pos: number, ranges: readonly Range[]): Range =>
  ranges
    .filter((one) => one.from <= pos && pos <= one.to)
    .reduce((all, { from, to }) => ({ from: Math.min(all.from, from), to: Math.max(all.to, to) }), {
      from: pos,
      to: pos,
    });

/**
 * What is awaited in `doc`, the server's document after the steps of others that `mapping` ends with: before those it
 * takes all of `made` back. `rest` are the numbers of steps that cannot wait.
 */
export function awaitedIn(
  doc: Node,
  made: readonly Made[],
  mapping: Mapping,
  { lost, done, written, loss }: Known,
): { found: Awaited[]; rest: number[] } {
  const parts: { index: number; step: Step }[] = [];
  let theirs: Range[] = loss.flatMap((step) => insertedBy(step.getMap()));
  for (const [index, { step, isOwn }] of made.entries()) {
    if (isOwn && !lost.includes(index)) {
      for (const part of partsOf(step, theirs, done.has(index))) parts.push({ index, step: part });
    }
    const map = step.getMap();
    theirs = after(theirs, map, isOwn);
  }
  if (!parts.length) return { found: [], rest: [] };
  // The document as it will be when others have sent theirs again.
  const all = new Mapping();
  all.appendMapping(mapping);
  const again = new Transform(doc);
  let expected: Range[] = [];
  const add = (step: Step | null, mirror: number): void => {
    if (!step || again.maybeStep(step).failed) return;
    all.appendMap(step.getMap(), mirror);
    expected = after(expected, step.getMap(), false);
  };
  for (const [at, step] of loss.entries()) add(step, made.length + loss.length - 1 - at);
  for (const [index, { step, isOwn }] of made.entries()) {
    if (!isOwn) add(step.map(all.slice(made.length - index)), made.length - 1 - index);
  }
  const own = new Transform(again.doc);
  const rest: number[] = [];
  for (const { index, step } of parts) {
    const mapped = step.map(all.slice(made.length - index));
    if (!mapped) continue;
    const { from, to } = about(mapped);
    if (from >= to) continue;
    const isInside = expected.some((one) => one.from <= from && to <= one.to);
    const placed = isInside && mapped.map(own.mapping);
    if (!placed || own.maybeStep(placed).failed) rest.push(index);
  }
  const back = again.mapping.invert();
  const found = expected.map(({ from, to }) => ({
    ...grown(back.map(from, -1), written),
    before: again.doc.slice(from, to),
    after: own.doc.slice(own.mapping.map(from, -1), own.mapping.map(to, 1)),
  }));
  return { found: found.filter(({ before, after }) => !before.eq(after)), rest };
}

/** The places after steps of the server's document: they grow by what is written there. */
export const followed = (places: readonly Awaited[], maps: readonly StepMap[]): Awaited[] =>
  places.slice(-MOST_AWAITED).map((one) => {
    const mapped = (pos: number, side: 1 | -1): number =>
      maps.reduce((at, map) => map.map(at, side), pos);
    return { ...one, from: mapped(one.from, -1), to: mapped(one.to, 1) };
  });

export const storedAwaited = (places: readonly Awaited[]): StoredAwaited[] =>
  places.map(({ before, after, ...range }) => ({
    ...range,
    before: before.toJSON() as unknown,
    after: after.toJSON() as unknown,
  }));

export const awaitedFrom = (stored: readonly StoredAwaited[] = []): Awaited[] =>
  stored.map(({ before, after, ...range }) => ({
    ...range,
    before: Slice.fromJSON(schema, before),
    after: Slice.fromJSON(schema, after),
  }));
