/** What the menu behind `/` offers: kinds of blocks, and the commands of a table. */
import { setBlockType } from "prosemirror-commands";
import type { Command, EditorState } from "prosemirror-state";
import { candidate, match } from "../app/match";
import { words } from "../app/words";
import { line, list, node, quote } from "./keys";
import {
  addColumn,
  addRow,
  deleteColumn,
  deleteRow,
  deleteTable,
  insertTable,
  placeOf,
} from "./table";

export interface Block {
  id: string;
  name: string;
  /** The shortcut in Markdown, which is found, too. */
  sign: string;
  run: Command;
}

/** The commands of a table, by name; the bar of tables has the same ones. */
export function tableCommands(): Block[] {
  const w = words.value;
  return [
    { id: "row-below", name: w.rowBelow, sign: "", run: addRow(1) },
    { id: "row-above", name: w.rowAbove, sign: "", run: addRow(0) },
    { id: "column-after", name: w.columnAfter, sign: "", run: addColumn(1) },
    { id: "column-before", name: w.columnBefore, sign: "", run: addColumn(0) },
    { id: "delete-row", name: w.deleteRow, sign: "", run: deleteRow },
    { id: "delete-column", name: w.deleteColumn, sign: "", run: deleteColumn },
    { id: "delete-table", name: w.deleteTable, sign: "", run: deleteTable },
  ];
}

/** Asks for what the editor does as an answer to an event: to pick files, or for a footnote. */
export const ask =
  (name: "pick" | "footnote"): Command =>
  (_state, dispatch, view) => {
    if (dispatch) view?.dom.dispatchEvent(new Event(name));
    return true;
  };

/** In a table, too. */
const anywhere = (): Block[] => [
  { id: "footnote", name: words.value.footnote, sign: "[^", run: ask("footnote") },
  { id: "file", name: words.value.pickFile, sign: "", run: ask("pick") },
];

function blocks(): Block[] {
  const w = words.value;
  const headings = [1, 2, 3].map((level) => ({
    ...{ id: `heading-${level}`, name: w.heading(level), sign: "#".repeat(level) },
    run: setBlockType(node("heading"), { level }),
  }));
  return [
    { id: "paragraph", name: w.paragraph, sign: "", run: setBlockType(node("paragraph")) },
    ...headings,
    { id: "bulletList", name: w.bulletList, sign: "-", run: list("bulletList") },
    { id: "orderedList", name: w.orderedList, sign: "1.", run: list("orderedList") },
    { id: "taskList", name: w.taskList, sign: "[ ]", run: list("taskList") },
    { id: "quote", name: w.quote, sign: ">", run: quote },
    { id: "codeBlock", name: w.codeBlock, sign: "```", run: setBlockType(node("codeBlock")) },
    { id: "rule", name: w.rule, sign: "---", run: line },
    { id: "table", name: w.table, sign: "", run: insertTable },
    ...anywhere(),
  ];
}

/** What can be done at the caret and fits what is typed after the `/`, in the order of the menu. */
export function offered(state: EditorState, typed: string): Block[] {
  const all = (placeOf(state) ? [...tableCommands(), ...anywhere()] : blocks()).filter((one) =>
    one.run(state),
  );
  const text = typed.trim();
  if (!text) return all;
  const bySign = all.filter((one) => one.sign.startsWith(text));
  const found = match(
    all.map((one) => candidate(one.id, one.name)),
    text,
    all.length,
  ).map(({ id }) => all.find((one) => one.id === id) as Block);
  return [...new Set([...bySign, ...found])];
}
