/** The block rule of footnotes, as the server's library has it. */
import type { StateBlock } from "markdown-it";

/** Reads the footnote at a line: its label was checked. */
export function footnote(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  const [begin, shift, count] = [state.bMarks[line], state.tShift[line], state.sCount[line]];
  if (begin === undefined || shift === undefined || count === undefined) return false;
  const start = begin + shift;
  const max = state.eMarks[line] ?? start;
  const colon = state.src.indexOf("]:", start) + 2;
  if (start + 4 > max || colon > max) return false;
  if (silent) return true;
  const label = state.src.slice(start + 2, colon - 2);
  const open = new state.Token("footnote_reference_open", "", 1);
  open.meta = { label };
  open.level = state.level++;
  state.tokens.push(open);
  const kind = state.parentType;
  const initial = count + colon - start;
  let [at, offset] = [colon, initial];
  for (; at < max; at += 1) {
    if (state.src[at] === "\t") offset += 4 - (offset % 4);
    else if (state.src[at] === " ") offset += 1;
    else break;
  }
  state.tShift[line] = at - colon;
  state.sCount[line] = offset - initial;
  state.bMarks[line] = colon;
  state.blkIndent += 4;
  state.parentType = "reference";
  if ((state.sCount[line] ?? 0) < state.blkIndent)
    state.sCount[line] = (state.sCount[line] ?? 0) + state.blkIndent;
  state.md.block.tokenize(state, line, end);
  state.parentType = kind;
  state.blkIndent -= 4;
  state.tShift[line] = shift;
  state.sCount[line] = count;
  state.bMarks[line] = begin;
  open.map = [line, state.line];
  const close = new state.Token("footnote_reference_close", "", -1);
  close.level = --state.level;
  state.tokens.push(close);
  return true;
}
