/** What the text's keys do, also by a button or from the palette: for a touch screen, or a mouse alone. */
import { liftListItem, sinkListItem } from "prosemirror-schema-list";
import type { Command, EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Act } from "../app/commands";
import { words } from "../app/words";
import { anyItem } from "./keys";
import { moveBlocks } from "./move";
import type { Tool } from "./toolbar";

const ACTS: Record<Act, { sign: string; run: Command }> = {
  moveUp: { sign: "⭡", run: moveBlocks(-1) },
  moveDown: { sign: "⭣", run: moveBlocks(1) },
  outdent: { sign: "⇤", run: anyItem(liftListItem) },
  indent: { sign: "⇥", run: anyItem(sinkListItem) },
};

export function act(view: EditorView, name: Act): void {
  ACTS[name].run(view.state, view.dispatch, view);
  view.focus();
}

/** The tools of the second bar. */
export const tools = (_state: EditorState): Tool[] =>
  (Object.keys(ACTS) as Act[]).map((name) => ({ ...ACTS[name], name: words.value.acts[name] }));
