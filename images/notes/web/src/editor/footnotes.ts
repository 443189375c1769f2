/**
 * The command for footnotes: in the text it makes one, or goes to the one at the caret; in a footnote it goes back to
 * its place, and takes away one that is empty. Imports nothing of the editor, which that would split.
 */
import type { Node } from "prosemirror-model";
import type { Selection, Transaction } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { notice } from "../app/store";
import { catalogue } from "../app/words";
import { load } from "../words/catalogues";
import { en, type WritingWords } from "../words/writing_en";

interface Found {
  node: Node;
  pos: number;
}

const fold = (node: Node): string => String(node.attrs.label).toLowerCase();
const isReference = (node: Node | null | undefined): node is Node =>
  node?.type.name === "footnoteReference";

function referencesIn(doc: Node): Found[] {
  const found: Found[] = [];
  doc.descendants((node, pos) => {
    if (isReference(node)) found.push({ node, pos });
  });
  return found;
}

function notesIn(doc: Node): Found[] {
  const found: Found[] = [];
  doc.forEach((node, pos) => {
    if (node.type.name === "footnote") found.push({ node, pos });
  });
  return found;
}

/** Two people who make a footnote at the same time get two labels; the number alone is shown. */
function labelFor(notes: readonly Found[]): string {
  const numbers = notes.map(({ node }) => Number.parseInt(fold(node), 10) || 0);
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `${Math.max(0, ...numbers) + 1}-${random.toString(36).padStart(4, "0").slice(-4)}`;
}

/** Puts the caret near a place. */
function goTo(view: EditorView, tr: Transaction, pos: number, bias: 1 | -1): void {
  // Every kind of selection has it from the class of all.
  const kind = view.state.selection.constructor as typeof Selection;
  view.dispatch(tr.setSelection(kind.near(tr.doc.resolve(pos), bias)).scrollIntoView());
  view.focus();
}

function say(choose: (words: WritingWords) => string): void {
  void load("writing", catalogue.value, en).then((found) => {
    notice.value = choose(found);
  });
}

function toNote(view: EditorView, reference: Node): void {
  const { state } = view;
  const note = notesIn(state.doc).find(({ node }) => fold(node) === fold(reference));
  if (note) goTo(view, state.tr, note.pos + 1, 1);
  else say((w) => w.noFootnote);
}

function back(view: EditorView, { node, pos }: Found, mayDelete: boolean): void {
  const { doc, tr } = view.state;
  const own = referencesIn(doc).filter((one) => fold(one.node) === fold(node));
  if (mayDelete && !node.textContent && node.content.size === 2) {
    tr.delete(pos, pos + node.nodeSize);
    for (const one of [...own].reverse())
      tr.delete(tr.mapping.map(one.pos), tr.mapping.map(one.pos + 1));
    goTo(view, tr, own[0]?.pos ?? Math.min(pos, tr.doc.content.size), -1);
  } else if (own[0]) goTo(view, tr, own[0].pos + 1, -1);
  else say((w) => w.noReference);
}

function make(view: EditorView): void {
  const { doc, schema, selection, tr } = view.state;
  const { footnote, footnoteReference, paragraph } = schema.nodes;
  const { $to } = selection;
  if (!footnote || !footnoteReference || !$to.parent.inlineContent) return;
  const at = $to.index();
  if (!$to.parent.canReplaceWith(at, at, footnoteReference)) return;
  const notes = notesIn(doc);
  const label = labelFor(notes);
  // Footnotes are in the order of their places, as far as that is known.
  const before = referencesIn(doc).filter((one) => one.pos < $to.pos);
  const last = before.map((one) => notes.find((note) => fold(note.node) === fold(one.node)));
  const behind = last.findLast((note) => note !== undefined);
  const place = behind ? behind.pos + behind.node.nodeSize : (notes[0]?.pos ?? doc.content.size);
  tr.insert(place, footnote.create({ label }, paragraph?.create()));
  tr.insert($to.pos, footnoteReference.create({ label }));
  goTo(view, tr, place + 2, 1);
}

export function footnote(view: EditorView): void {
  const { $from, $to, from } = view.state.selection;
  const around = $from.depth ? $from.node(1) : undefined;
  if (around?.type.name === "footnote")
    return back(view, { node: around, pos: $from.before(1) }, true);
  const here = [$to.nodeBefore, $to.nodeAfter, view.state.doc.nodeAt(from)].find(isReference);
  if (here) toNote(view, here);
  else make(view);
}

/** A click: on a sign in the text it goes to the footnote, on the number of a footnote back. */
export function clicked(view: EditorView, node: Node, pos: number): void {
  if (isReference(node)) toNote(view, node);
  else back(view, { node, pos }, false);
}
