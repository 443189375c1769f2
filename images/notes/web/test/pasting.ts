/** Pastes Markdown into an empty page of the editor, for tests and judges. */
import { EditorState } from "prosemirror-state";
import { addressFor } from "../src/doc/address";
import type { Doc } from "../src/doc/types";
import { relabelled } from "../src/editor/pasted";
import { inPlace } from "../src/editor/pasted_blocks";
import { docOf, nodeFrom } from "../src/editor/schema";
import { parse } from "../src/markdown/parse";

/** The page after a text was pasted and became blocks; undefined if it stays text. */
export function pasted(text: string): Doc | undefined {
  const plain = { type: "doc", content: [{ type: "paragraph" }, { type: "paragraph" }] } as Doc;
  const lines = text.trim() ? plain : ({ type: "doc", content: [{ type: "paragraph" }] } as Doc);
  const state = EditorState.create({ doc: nodeFrom(lines) });
  const found = parse(text, addressFor, 10_000);
  const tr =
    found && inPlace(state, { from: 1, to: state.doc.content.size - 1 }, found, relabelled);
  tr?.doc.check();
  return tr && docOf(tr.doc);
}
