/** What a person decides about a doubtful place. */
import { Fragment, Slice } from "prosemirror-model";
import type { EditorState, Transaction } from "prosemirror-state";
import { doubted } from "../app/editing";
import { doubtsOf as storedDoubts, removeDoubt } from "../sync/drafts";
import { type Doubt, doubtsOf, withoutDoubt } from "./places";
import type { Session } from "./session";

const words = (nodes: Fragment): string => nodes.textBetween(0, nodes.size, "\n", "▢");

export const mineOf = (one: Doubt): string => words(Fragment.from(one.mine));

/** What is at the place now. */
export function theirsOf({ doc }: EditorState, { from, to }: Doubt): string {
  const size = doc.content.size;
  return doc.textBetween(Math.min(from, size), Math.min(to, size), "\n", "▢");
}

/** What the place gets: its person's own wording, what is there, or that and then their own. */
export type Choice = "mine" | "theirs" | "both";

/** The choices of a place: "both" where both wordings have words. */
export const choicesOf = (state: EditorState, one: Doubt): readonly Choice[] =>
  mineOf(one) && theirsOf(state, one) ? ["mine", "theirs", "both"] : ["mine", "theirs"];

/** The decision of a person. */
export function decided(state: EditorState, id: string, choice: Choice): Transaction {
  const { tr } = state;
  const found = doubtsOf(state).find((one) => one.id === id);
  if (found && choice !== "theirs") {
    const size = state.doc.content.size;
    const [from, to] = [Math.min(found.from, size), Math.min(found.to, size)];
    const mine = Fragment.from(found.mine);
    if (choice === "both") addAfter(tr, to, mine);
    else if (mine.size) tr.replaceRange(from, to, new Slice(mine, 0, 0));
    else tr.delete(from, to);
  }
  return withoutDoubt(tr, id);
}

/** Inserts blocks behind the block of a position, or behind the first around it that may be followed by them. */
function addAfter(tr: Transaction, pos: number, blocks: Fragment): void {
  let at = tr.doc.resolve(pos);
  if (at.parent.inlineContent && at.depth) at = tr.doc.resolve(at.after());
  while (at.depth && !at.parent.canReplace(at.index(), at.index(), blocks)) {
    at = tr.doc.resolve(at.after());
  }
  if (at.parent.canReplace(at.index(), at.index(), blocks)) tr.insert(at.pos, blocks);
  else tr.replaceRange(at.pos, at.pos, new Slice(blocks, 0, 0));
}

/** Decides about a doubtful place; another tab may have done so before. */
export async function decide(session: Session, id: string, choice: Choice): Promise<void> {
  const isOpen = await removeDoubt(id);
  session.apply(decided(session.now(), id, isOpen ? choice : "theirs"));
  doubted.value = new Set((await storedDoubts(session.user)).map((one) => one.page));
}
