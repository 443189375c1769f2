/** Makes links of addresses that are typed or pasted. */
import type { MarkType } from "prosemirror-model";
import { type EditorState, Plugin, type Transaction } from "prosemirror-state";
import { addressFor } from "../doc/address";
import { schema } from "./schema";

const ADDRESS = /^https?:\/\/[^\s<>"]+$/i;
/** Signs behind an address that belong to the sentence. */
const AFTER = /[.,;:!?'"\u201d\u2019*_]+$/;

/** An address without the signs of the sentence around it. */
export function bare(text: string): string {
  const found = text.replace(AFTER, "");
  const isOpen = found.includes("(");
  return found.endsWith(")") && !isOpen ? bare(found.slice(0, -1)) : found;
}

const linkOf = (address: string) => schema.marks.link?.create({ href: address, title: null });

/** Links the address before a place; undefined if there is none. */
function linkedBefore(state: EditorState, pos: number): Transaction | undefined {
  const { parent, parentOffset } = state.doc.resolve(pos);
  const before = parent.textBetween(0, parentOffset, undefined, "\ufffc");
  const typed = /(?:^|[\s(])(https?:\/\/[^\s<>"]+)$/i.exec(before)?.[1];
  const address = bare(typed ?? "");
  const mark = /^https?:\/\/[^/]/i.test(address) && linkOf(addressFor(address) ?? "");
  if (!typed || !mark || parent.type.spec.code || !parent.type.allowsMarkType(mark.type))
    return undefined;
  const from = pos - typed.length;
  const isMarked = [mark.type, schema.marks.code].some(
    (one) => one && state.doc.rangeHasMark(from, pos, one),
  );
  return isMarked ? undefined : state.tr.addMark(from, from + address.length, mark);
}

/** Links the address before the space that was just typed. */
export function linkTyped(
  state: EditorState,
  _match: RegExpMatchArray,
  _start: number,
  end: number,
): Transaction | null {
  const tr = linkedBefore(state, end);
  return tr ? tr.insertText(" ", end).removeStoredMark(schema.marks.link as MarkType) : null;
}

/** An address before Enter, or pasted alone, becomes a link; pasted over words it becomes theirs. */
export const links = (): Plugin =>
  new Plugin({
    props: {
      handleKeyDown(view, event) {
        const { empty, from } = view.state.selection;
        const tr =
          event.key === "Enter" && empty && !view.composing && linkedBefore(view.state, from);
        if (tr) view.dispatch(tr);
        return false;
      },
      handlePaste(view, event) {
        const text = event.clipboardData?.getData("text/plain").trim() ?? "";
        const href = ADDRESS.test(text) ? addressFor(text) : undefined;
        const { from, to, empty, $from, $to } = view.state.selection;
        const mark = href && linkOf(href);
        const { parent } = $from;
        if (!mark || !$from.sameParent($to) || parent.type.spec.code) return false;
        if (!parent.type.allowsMarkType(mark.type)) return false;
        const { tr } = view.state;
        if (empty) tr.replaceSelectionWith(schema.text(text, [mark]), false);
        else tr.addMark(from, to, mark);
        view.dispatch(tr.removeStoredMark(mark.type).scrollIntoView());
        return true;
      },
    },
  });
