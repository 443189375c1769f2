/**
 * The steps of an editor that the server has not accepted, and their way over the edits of others.
 *
 * Pure: editor states in, transactions out. Invariant: the document without the unsent steps is the
 * server's at the edit that the caller knows; a step that finds its place no more is handed back.
 */
import {
  type EditorState,
  Plugin,
  PluginKey,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import {
  Mapping,
  ReplaceAroundStep,
  ReplaceStep,
  type Step,
  type StepMap,
  Transform,
} from "prosemirror-transform";
import type { Node } from "prosemirror-model";
import { type Awaited, awaitedIn } from "./awaited";
import { insertedBy, type Lost, moved, placesOf, type Range, takes } from "./overlap";

interface Mirrors {
  setMirror(n: number, m: number): void;
}

export interface Unsent {
  step: Step;
  inverted: Step;
}

const key = new PluginKey<readonly Unsent[]>("unsent");

/** Counts every local step as unsent until `accept` or `receive` says otherwise. */
export const unsent = (): Plugin =>
  new Plugin<readonly Unsent[]>({
    key,
    state: {
      init: () => [],
      apply(tr, before) {
        const given = tr.getMeta(key) as readonly Unsent[] | undefined;
        if (given) return given;
        if (!tr.docChanged) return before;
        return [...before, ...ofTransform(tr)];
      },
    },
    // Undo leaves the steps of others alone.
    historyPreserveItems: true,
  });

const ofTransform = (tr: Transform): Unsent[] =>
  tr.steps.map((step, at) => ({ step, inverted: step.invert(tr.docs[at] as Node) }));

export const unsentOf = (state: EditorState): readonly Unsent[] => key.getState(state) ?? [];

/** The server's document: the one of the editor without the unsent steps. */
export function acceptedDoc(state: EditorState): Node {
  const tr = new Transform(state.doc);
  for (const { inverted } of [...unsentOf(state)].reverse()) tr.step(inverted);
  return tr.doc;
}

/** The server's document before accepted steps that it has lost. */
export function takenBack(state: EditorState, past: readonly Unsent[]): Node {
  const tr = new Transform(acceptedDoc(state));
  for (const { inverted } of [...past].reverse()) tr.step(inverted);
  return tr.doc;
}

/** An edit of the log, or several at once, that a transaction brings. */
export interface Entry {
  seq: number;
  author: string | null;
  maps: readonly StepMap[];
}

/** The edit of the log that a transaction brings. */
export const entry = (tr: Transaction): Entry | undefined => tr.getMeta("entry");

/** The server has accepted the first `count` unsent steps of `author` as edit `seq`. */
export function accept(
  state: EditorState,
  count: number,
  { seq, author }: { seq: number; author: string },
): Transaction {
  const own = unsentOf(state);
  const maps = own.slice(0, count).map(({ step }) => step.getMap());
  const made: Entry = { seq, author, maps };
  const tr = state.tr.setMeta(key, own.slice(count)).setMeta("addToHistory", false);
  return tr.setMeta("entry", made);
}

/** A position in the document of an editor, as one in the server's document. */
export const acceptedPos = (state: EditorState, pos: number): number =>
  [...unsentOf(state)].reverse().reduce((at, one) => one.inverted.getMap().map(at, -1), pos);

/** A position in the server's document, as one in that of an editor. */
export const shownPos = (state: EditorState, pos: number, side: 1 | -1): number =>
  unsentOf(state).reduce((at, one) => one.step.getMap().map(at, side), pos);

export interface Received {
  tr: Transaction;
  /** What takes the given steps back, in their order. */
  inverted: Step[];
  /** Ranges of the document before, whose unsent steps find no place, and where they are after. */
  lost: Lost[];
  /** What waits until others have sent again what it is about: in the server's document after the steps. */
  awaited: Awaited[];
}

/** A step to be done again after those of others, or one that is only taken back. */
export interface Undone extends Unsent {
  isOwn: boolean;
}

/**
 * Applies steps that the server accepted from others, as edit `seq`, below the unsent ones.
 *
 * `past` are steps that the server had accepted and has lost: they are taken back, and those of one's own are
 * unsent again. With `isLoss` the steps are the difference to a document without edits that are lost, too. The first
 * `refused` unsent steps are taken back for good. A step that would delete what others wrote meanwhile is not done.
 * Throws if the steps don't apply.
 */
export function receive(
  state: EditorState,
  steps: readonly Step[],
  { seq, author }: { seq: number; author: string | null },
  past: readonly Undone[] = [],
  isLoss = false,
  refused = 0,
): Received {
  const own: Undone[] = [...past, ...unsentOf(state).map((one) => ({ ...one, isOwn: true }))];
  const { tr } = state;
  for (let at = own.length - 1; at >= 0; at--) tr.step((own[at] as Unsent).inverted);
  const inverted: Step[] = [];
  let theirs: Range[] = [];
  for (const step of steps) {
    inverted.push(step.invert(tr.doc));
    tr.step(step);
    theirs = [...moved(theirs, step.getMap()), ...insertedBy(step.getMap())];
  }
  const [server, written, before] = [tr.doc, theirs, new Mapping()];
  before.appendMapping(tr.mapping);
  const kept: Unsent[] = [];
  const lost: number[] = [];
  const done = new Set<number>();
  let from = own.length;
  for (const [index, { step, isOwn }] of own.entries()) {
    const mapping = tr.mapping.slice(from);
    from -= 1;
    const isRefused = index >= past.length && index < past.length + refused;
    if (isRefused && step instanceof ReplaceStep && step.slice.size) lost.push(index);
    if (!isOwn || isRefused) continue;
    const doc = tr.doc;
    const mapped = stillThere(step, step.map(mapping));
    const isTaking = mapped instanceof ReplaceStep && takes(doc, mapped, theirs);
    const ways = mapped && !isTaking ? [...inFront(step, mapping), mapped] : [];
    const way = ways.find((one) => !tr.maybeStep(one).failed);
    if (way) {
      done.add(index);
      // Of the library, but not in its types.
      (tr.mapping as unknown as Mirrors).setMirror(from, tr.steps.length - 1);
      kept.push({ step: way, inverted: way.invert(doc) });
      theirs = moved(theirs, way.getMap());
    } else if (step instanceof ReplaceStep && (isTaking || step.slice.size)) lost.push(index);
  }
  const { selection } = state;
  if (steps.length && selection instanceof TextSelection) {
    // What others insert at the caret comes after it.
    const at = (place: number) => tr.doc.resolve(tr.mapping.map(place, -1));
    tr.setSelection(TextSelection.between(at(selection.anchor), at(selection.head), -1));
  }
  const made: Entry = { seq, author, maps: steps.map((step) => step.getMap()) };
  tr.setMeta("entry", made);
  tr.setMeta("rebased", own.length).setMeta("addToHistory", false).setMeta(key, kept);
  const loss = isLoss ? [...inverted].reverse() : [];
  const { found: awaited, rest } = awaitedIn(server, own, before, { lost, done, written, loss });
  const places = placesOf(state.doc, own, [...lost, ...rest], tr.mapping);
  return { tr, inverted, lost: places, awaited };
}

/** A step on its way over those of others; null if there is nothing left of what it was about. */
function stillThere(step: Step, mapped: Step | null): Step | null {
  if (mapped instanceof ReplaceStep && !mapped.slice.size && mapped.from === mapped.to) return null;
  if (!(step instanceof ReplaceAroundStep && mapped instanceof ReplaceAroundStep)) return mapped;
  const outer = (one: ReplaceAroundStep): number => one.gapFrom - one.from + one.to - one.gapTo;
  const isGone = outer(mapped) < outer(step) || (!outer(step) && mapped.gapFrom === mapped.gapTo);
  return isGone ? null : mapped;
}

/**
 * An insertion at its place, before what others have inserted there: as at the caret, where their text comes
 * after it. Behind theirs it would be cut off from the accepted beginning of its word.
 */
function inFront(step: Step, mapping: Mapping): Step[] {
  if (!(step instanceof ReplaceStep) || step.from !== step.to) return [];
  const at = mapping.map(step.from, -1);
  const { structure } = step as unknown as { structure: boolean };
  return [new ReplaceStep(at, at, step.slice, structure)];
}

/** One step from a document to another: it replaces what differs. */
export function difference(from: Node, to: Node): Step[] {
  const start = from.content.findDiffStart(to.content);
  const end = from.content.findDiffEnd(to.content);
  if (start === null || !end) return [];
  const overlap = Math.max(0, start - Math.min(end.a, end.b));
  const [a, b] = [end.a + overlap, end.b + overlap];
  // Whole blocks, not the end of one and the beginning of the next, where nothing else is deleted or inserted.
  const { openStart } = start === a ? to.slice(start, b) : from.slice(start, a);
  if (openStart && (start === a || start === b)) {
    const [at, end, slice] = [
      start - openStart,
      a - openStart,
      to.slice(start - openStart, b - openStart),
    ];
    const step = new ReplaceStep(at, end, slice);
    if (step.apply(from).doc?.eq(to)) return [step];
  }
  const tr = new Transform(from);
  try {
    tr.step(new ReplaceStep(start, a, to.slice(start, b)));
  } catch {
    tr.step(new ReplaceStep(0, from.content.size, to.slice(0, to.content.size)));
  }
  return tr.steps;
}

/** The first unsent steps as one batch: typing becomes one step; `count` says how many they were. */
export function batch(state: EditorState, most: number): { steps: Step[]; count: number } {
  const own = unsentOf(state);
  const steps: Step[] = [];
  let count = 0;
  for (const { step } of own) {
    const last = steps.at(-1);
    const merged = last?.merge(step);
    if (merged) steps[steps.length - 1] = merged;
    else if (steps.length < most) steps.push(step);
    else break;
    count += 1;
  }
  return { steps, count };
}
