/** Strikethrough with one or two tildes, as GitHub and the server read it; three or more are text. */
import type { Delimiter, StateInline } from "markdown-it";

const TILDE = 0x7e;

export function strike(state: StateInline, silent: boolean): boolean {
  if (silent || state.src.charCodeAt(state.pos) !== TILDE) return false;
  const scanned = state.scanDelims(state.pos, true);
  state.push("text", "", 0).content = "~".repeat(scanned.length);
  if (scanned.length <= 2) {
    state.delimiters.push({
      marker: TILDE,
      // No "rule of three".
      length: 0,
      token: state.tokens.length - 1,
      end: -1,
      open: scanned.can_open,
      close: scanned.can_close,
    });
  }
  state.pos += scanned.length;
  return true;
}

function pair(state: StateInline, delimiters: Delimiter[]): void {
  for (const start of delimiters) {
    const end = delimiters[start.end];
    if (start.marker !== TILDE || !end) continue;
    const [open, close] = [state.tokens[start.token], state.tokens[end.token]];
    if (!open || !close || open.content !== close.content) continue;
    Object.assign(open, { type: "s_open", tag: "s", nesting: 1, content: "" });
    Object.assign(close, { type: "s_close", tag: "s", nesting: -1, content: "" });
  }
}

/** Makes tags of the pairs of tildes. */
export function strikePairs(state: StateInline): boolean {
  pair(state, state.delimiters);
  for (const one of state.tokens_meta) if (one?.delimiters) pair(state, one.delimiters);
  return true;
}
