/**
 * Commands for tables. The schema's cells hold one paragraph and span nothing; the first row is the header.
 *
 * Invariant: after each command the first row has header cells and the others don't, as the server stores it.
 * Rows may be of different lengths where people wrote at once; a missing cell is passed over.
 */
import type { Node, NodeType } from "prosemirror-model";
import {
  type Command,
  type EditorState,
  Selection,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import { schema } from "./schema";

const type = (name: string): NodeType => schema.nodes[name] as NodeType;
const isCell = (node: Node): boolean => /^table(Cell|Header)$/.test(node.type.name);

/** The cell that the selection begins in: its table, the table's place, and the cell's row and column. */
export interface Place {
  table: Node;
  at: number;
  row: number;
  column: number;
}

export function placeOf(state: EditorState): Place | undefined {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 1; depth--) {
    if (!isCell($from.node(depth))) continue;
    const [row, column] = [$from.index(depth - 2), $from.index(depth - 1)];
    return { table: $from.node(depth - 2), at: $from.before(depth - 2), row, column };
  }
  return undefined;
}

/** The place before a row of a table; the table's end for the row after the last. */
function rowAt({ table, at }: Place, row: number): number {
  let found = at + 1;
  for (let n = 0; n < row; n++) found += table.child(n).nodeSize;
  return found;
}

/** The place before a cell; the row's end for the column after its last. */
function cellAt(place: Place, row: number, column: number): number {
  let found = rowAt(place, row) + 1;
  const cells = place.table.child(row);
  for (let n = 0; n < Math.min(column, cells.childCount); n++) found += cells.child(n).nodeSize;
  return found;
}

const newCell = (isHeader: boolean, align: unknown = null): Node =>
  type(isHeader ? "tableHeader" : "tableCell").create({ align }, type("paragraph").create());

/** Makes the cells of the first row headers, and those of all others not. */
function withHeader(tr: Transaction, at: number): Transaction {
  const start = tr.mapping.map(at, -1);
  tr.doc.nodeAt(start)?.forEach((row, inTable, index) => {
    const wanted = type(index === 0 ? "tableHeader" : "tableCell");
    row.forEach((cell, inRow) => {
      if (cell.type !== wanted) tr.setNodeMarkup(start + inTable + inRow + 2, wanted);
    });
  });
  return tr;
}

/** The caret at the beginning of the content at a place. */
const caretAt = (tr: Transaction, at: number): Transaction =>
  tr.setSelection(TextSelection.near(tr.doc.resolve(at))).scrollIntoView();

const inTable =
  (change: (place: Place, tr: Transaction) => Transaction | undefined): Command =>
  (state, dispatch) => {
    const place = placeOf(state);
    if (!place) return false;
    const made = change(place, state.tr);
    if (made) dispatch?.(made);
    return made !== undefined;
  };

/** Adds an empty row above (0) or below (1) the caret's, aligned as the table is. */
export const addRow = (offset: 0 | 1): Command =>
  inTable((place, tr) => {
    const row = place.row + offset;
    const like = place.table.child(0);
    const cells: Node[] = [];
    like.forEach((cell) => cells.push(newCell(row === 0, cell.attrs.align)));
    const at = rowAt(place, row);
    tr.insert(at, type("tableRow").create(null, cells));
    return caretAt(withHeader(tr, place.at), at + 2);
  });

/** Adds an empty column before (0) or after (1) the caret's. */
export const addColumn = (offset: 0 | 1): Command =>
  inTable((place, tr) => {
    const column = place.column + offset;
    for (let row = place.table.childCount - 1; row >= 0; row--)
      tr.insert(cellAt(place, row, column), newCell(row === 0));
    const inRow = tr.mapping.map(cellAt(place, place.row, column), -1);
    return caretAt(withHeader(tr, place.at), inRow + 1);
  });

export const deleteTable: Command = inTable(({ table, at }, tr) => {
  const { parent } = tr.doc.resolve(at);
  if (parent.childCount > 1) tr.delete(at, at + table.nodeSize);
  else tr.replaceWith(at, at + table.nodeSize, type("paragraph").create());
  return caretAt(tr, at);
});

/** Deletes the caret's row; the next one becomes the header after the first. The last row stays. */
export const deleteRow: Command = inTable((place, tr) => {
  if (place.table.childCount < 2) return undefined;
  const at = rowAt(place, place.row);
  tr.delete(at, rowAt(place, place.row + 1));
  const isLast = place.row === place.table.childCount - 1;
  const next = isLast ? cellAt(place, place.row - 1, 0) : at + 1;
  return caretAt(withHeader(tr, place.at), next + 1);
});

/** Deletes the caret's column; the last one stays. */
export const deleteColumn: Command = inTable((place, tr) => {
  const { table, column } = place;
  // A row that has only this cell keeps it: a row is never empty.
  const rows: number[] = [];
  table.forEach((cells, _at, row) => {
    if (cells.childCount > 1 && column < cells.childCount) rows.unshift(row);
  });
  if (!rows.includes(place.row)) return undefined;
  for (const row of rows) {
    tr.delete(cellAt(place, row, column), cellAt(place, row, column + 1));
  }
  const kept = Math.min(column, table.child(place.row).childCount - 2);
  const at = tr.mapping.map(cellAt(place, place.row, kept), -1);
  return caretAt(tr, at + 1);
});

/** Inserts a table of three rows and columns in place of an empty paragraph, or after the block. */
export const insertTable: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if ($from.depth === 0 || placeOf(state)) return false;
  const rows = [0, 1, 2].map((row) =>
    type("tableRow").create(
      null,
      [0, 1, 2].map(() => newCell(row === 0)),
    ),
  );
  const made = type("table").create(null, rows);
  const index = $from.index(-1);
  const parent = $from.node(-1);
  const isEmpty = $from.parent.type === type("paragraph") && !$from.parent.content.size;
  const isReplaced = isEmpty && parent.canReplaceWith(index, index + 1, made.type);
  if (!isReplaced && !parent.canReplaceWith(index + 1, index + 1, made.type)) return false;
  if (dispatch) {
    const at = isReplaced ? $from.before() : $from.after();
    const { tr } = state;
    dispatch(caretAt(tr.replaceWith(at, isReplaced ? $from.after() : at, made), at + 3));
  }
  return true;
};

/** Goes to the next or the previous cell of a table; after the last one, `beyond` decides. */
const toCell =
  (direction: 1 | -1, beyond: Command): Command =>
  (state, dispatch, view) => {
    const place = placeOf(state);
    if (!place) return false;
    const { table, row, column } = place;
    const isLast = row === table.childCount - 1 && column === table.child(row).childCount - 1;
    if (direction > 0 && isLast) return beyond(state, dispatch, view);
    const here = cellAt(place, row, direction > 0 ? column + 1 : column);
    const next = Selection.findFrom(state.doc.resolve(here), direction, true);
    if (next) dispatch?.(state.tr.setSelection(next).scrollIntoView());
    return true;
  };

/** The caret leaves the table downwards, into a new paragraph if nothing takes it. */
const below: Command = inTable(({ table, at }, tr) => {
  const after = at + table.nodeSize;
  if (!Selection.findFrom(tr.doc.resolve(after), 1, true)) {
    tr.insert(after, type("paragraph").create());
  }
  return caretAt(tr, after);
});

/** Tab: the next cell; after the last one a new row. */
export const nextCell = toCell(1, addRow(1));
export const previousCell = toCell(-1, below);
/** Enter: the next cell; after the last one the text below the table. */
export const enterCell = toCell(1, below);
