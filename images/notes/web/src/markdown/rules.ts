/**
 * The Markdown parser, with the rules beyond CommonMark that the server has (doc/markdown_rules.py).
 *
 * Invariant: every rule reads a bounded part of the text, so parsing takes linear time.
 */
import markdownIt, {
  type Env as AnyEnv,
  type MarkdownIt,
  type StateBlock,
  type StateInline,
} from "markdown-it";
import { footnote } from "./footnote";
import { strike, strikePairs } from "./strike";

const MAX_NESTING = 100;
const URL = /(https?:\/\/|www\.)([^\s\x00-,/:-@[-^`{-\x7f]{1,255})[^\s<]{0,2000}/y;
const LOCAL = /(?<![A-Za-z0-9.+_-])(?:mailto:)?[A-Za-z0-9.+_-]{1,64}$/;
const DOMAIN = /@[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63}){1,8}/y;
const ENTITY = /&[A-Za-z0-9]{1,32};$/;
const MAY_PRECEDE = " \t\n*_~(";
/** Where the text between two rules ends: as the library has it, and at a `w`. */
const TERMINATOR = /[\n!#$%&*+\-:<=>@[\\\]^_`w{}~]/g;

/** What a parse is given: until when it may take, and the labels of the footnotes that it has found. */
export interface Env extends AnyEnv {
  until: number;
  labels: Map<string, string>;
}

export class TooLongError extends Error {}

/** The match of a sticky expression at a place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Lower case, for comparing labels. */
export const folded = (text: string): string => text.toUpperCase().toLowerCase();

const LABEL = /\[\^([^\s[\]\\|`]{1,60})\]/y;

function inTime(state: StateInline): boolean {
  if (performance.now() > (state.env as Env).until) throw new TooLongError();
  return false;
}

function text(state: StateInline, silent: boolean): boolean {
  TERMINATOR.lastIndex = state.pos;
  const end = Math.min(TERMINATOR.exec(state.src)?.index ?? state.posMax, state.posMax);
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** Reads a footnote. Of two with the same label the second is ordinary text. */
function footnoteOnce(state: StateBlock, line: number, end: number, silent: boolean): boolean {
  const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
  const found = matchAt(LABEL, state.src, start);
  const label = found?.[1] ?? "";
  if (!found || /[\p{C}\p{Z}]/u.test(label) || state.src[start + found[0].length] !== ":") {
    return false;
  }
  const { labels } = state.env as Env;
  if (labels.has(folded(label)) || (state.sCount[line] ?? 0) - state.blkIndent >= 4) return false;
  if (!silent) labels.set(folded(label), label);
  return footnote(state, line, end, silent);
}

/** Reads a reference to an existing footnote. */
function reference(state: StateInline, silent: boolean): boolean {
  const found = matchAt(LABEL, state.src, state.pos);
  const label = found?.[1] ?? "";
  if (!found || state.pos + found[0].length > state.posMax) return false;
  if (!(state.env as Env).labels.has(folded(label))) return false;
  if (!silent) state.push("footnote_reference", "", 0).content = label;
  state.pos += found[0].length;
  return true;
}

/** A bare address without the punctuation that follows it in a sentence. */
function trimmed(found: string): string {
  const count = (sign: string): number => found.split(sign).length - 1;
  const left: Record<string, number> = {
    ")": count(")") - count("("),
    "]": count("]") - count("["),
  };
  let end = found.length;
  while (end > 0) {
    const last = found[end - 1] ?? "";
    if ((left[last] ?? 0) > 0) left[last] = (left[last] ?? 0) - 1;
    else if (last === ";") {
      const entity = ENTITY.exec(found.slice(Math.max(0, end - 34), end));
      end = entity ? Math.max(0, end - 34) + entity.index + 1 : end;
    } else if (!"?!.,:*_~'\"".includes(last)) break;
    end -= 1;
  }
  return found.slice(0, end);
}

/** Makes a link of the text from `start`; the part before `pos` is in `state.pending`. */
function link(state: StateInline, start: number, shown: string, href: string): boolean {
  const before = state.pos - start;
  // A part of it is not plain text.
  if (state.pending.length < before) return false;
  state.pending = state.pending.slice(0, state.pending.length - before);
  state.push("link_open", "a", 1).attrs = [["href", href]];
  state.push("text", "", 0).content = shown;
  state.push("link_close", "a", -1);
  state.pos = start + shown.length;
  return true;
}

/** Reads `https://…`, `http://…` and `www.…` as links. */
function bareAddress(state: StateInline, silent: boolean): boolean {
  if (silent || state.linkLevel > 0) return false;
  let start = state.pos;
  if (state.src.startsWith("://", start)) {
    const from = Math.max(0, start - 5);
    const scheme = /https?$/.exec(state.src.slice(from, start));
    if (!scheme) return false;
    start = from + scheme.index;
  } else if (!state.src.startsWith("www.", start)) return false;
  const before = [...state.src.slice(Math.max(0, start - 2), start)].at(-1) ?? "";
  const isBare = start === state.pos && !MAY_PRECEDE.includes(before);
  if (/[\p{L}\p{N}]/u.test(before) || before === "[" || before === "<" || isBare) return false;
  const found = matchAt(URL, state.src.slice(0, state.posMax), start);
  if (!found) return false;
  const [whole, prefix = "", host = ""] = found;
  const shown = trimmed(whole);
  const ends = host
    .replace(/[._-]+$/, "")
    .split(".")
    .slice(-2);
  if (shown.length <= prefix.length || !ends.at(-1) || ends.some((part) => part.includes("_")))
    return false;
  return link(state, start, shown, prefix === "www." ? `http://${shown}` : shown);
}

/** Reads an e-mail address as a link. */
function bareMail(state: StateInline, silent: boolean): boolean {
  if (silent || state.linkLevel > 0 || state.src[state.pos] !== "@") return false;
  const from = Math.max(0, state.pos - 71);
  const local = LOCAL.exec(state.src.slice(from, state.pos));
  const domain = matchAt(DOMAIN, state.src.slice(0, state.posMax), state.pos);
  if (!local || !domain || /[-_]$/.test(domain[0])) return false;
  const shown = local[0] + domain[0];
  const href = shown.startsWith("mailto:") ? shown : `mailto:${shown}`;
  return link(state, from + local.index, shown, href);
}

function made(): MarkdownIt {
  const md = markdownIt("commonmark", { html: true, maxNesting: MAX_NESTING });
  md.enable(["table"]);
  md.inline.ruler.before("text", "in_time", inTime);
  md.inline.ruler.at("text", text);
  md.inline.ruler.after("image", "footnote_reference", reference);
  md.inline.ruler.after("backticks", "strikethrough_single", strike);
  md.inline.ruler2.before("emphasis", "strikethrough_single", strikePairs);
  md.inline.ruler.push("bare_address", bareAddress);
  md.inline.ruler.push("bare_mail", bareMail);
  md.block.ruler.before("reference", "footnote", footnoteOnce, {
    alt: ["paragraph", "reference"],
  });
  // The schema checks addresses; the parser keeps them as they are written.
  md.normalizeLink = md.normalizeLinkText = (url) => url;
  md.validateLink = () => true;
  return md;
}

let kept: MarkdownIt | undefined;

/** The parser. */
export const parser = (): MarkdownIt => (kept ??= made());
