/** Recognises HTML in Markdown, as the server does (doc/raw_html.py); it is kept as text and never run. */

/** The elements that begin a block, by CommonMark. */
const BLOCKS = (
  "address article aside base basefont blockquote body caption center col colgroup dd " +
  "details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 " +
  "h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav " +
  "noframes ol optgroup option p param search section summary table tbody td tfoot th " +
  "thead title tr track ul"
).split(" ");
const VALUE = "(?:[^\"'=<>`\\x00-\\x20]+|'[^']*'|\"[^\"]*\")";
const ATTRIBUTE = `(?:\\s+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:\\s*=\\s*${VALUE})?)`;
const OPEN = `<[A-Za-z][A-Za-z0-9\\-]*${ATTRIBUTE}*\\s*\\/?>`;
const CLOSE = "<\\/[A-Za-z][A-Za-z0-9\\-]*\\s*>";
const COMMENT = "<!---?>|<!--(?:[^-]|-[^-]|--[^>])*-->";
const OTHERS = "<[?][\\s\\S]*?[?]>|<![A-Za-z][^>]*>|<!\\[CDATA\\[[\\s\\S]*?\\]\\]>";
const TAG = new RegExp(`^(?:${OPEN}|${CLOSE}|${COMMENT}|${OTHERS})`);

const MARK_TAGS: Record<string, string> = {
  strong: "bold",
  b: "bold",
  em: "italic",
  i: "italic",
  s: "strike",
  del: "strike",
  u: "underline",
  mark: "highlight",
  sub: "subscript",
  sup: "superscript",
  code: "code",
};
/** The tags of marks with which Markdown is written. */
const WRITTEN = new Set(["strong", "em", "s", "u", "mark", "sub", "sup", "code"]);

/** The beginnings and ends of HTML blocks, and what ends one that was left open. */
const SEQUENCES: [RegExp, RegExp, string?][] = [
  [/^<(script|pre|style|textarea)(?=(\s|>|$))/i, /<\/(script|pre|style|textarea)>/i],
  [/^<!--/, /-->/, "-->"],
  [/^<\?/, /\?>/, "?>"],
  [/^<![A-Z]/i, />/, ">"],
  [/^<!\[CDATA\[/, /\]\]>/, "]]>"],
  [new RegExp(`^</?(${BLOCKS.join("|")})(?=(\\s|/?>|$))`, "i"), /^$/],
  [new RegExp(`^(?:${OPEN}|${CLOSE})\\s*$`), /^$/],
];

/**
 * A source as one HTML block, and the text that must be added before another block follows. Both are
 * empty if the source is no block, or more than one.
 */
export function block(source: string): [string, string] {
  const lines = source
    .replace(/[ \t\n]+$/, "")
    .split("\n")
    .map((line) => (/^[ \t]*$/.test(line) ? "" : line));
  lines[0] = (lines[0] ?? "").replace(/^ +/, "");
  for (const [at, [start, end, close]] of SEQUENCES.entries()) {
    const found = start.exec(lines[0]);
    if (!found) continue;
    const whole = lines.join("\n");
    if (at >= 5) return [lines.every(Boolean) ? whole : "", ""];
    const closed = lines.findIndex((line) => end.test(line));
    if (closed < 0) return [whole, `\n${close ?? `</${found[1]}>`}`];
    return [closed === lines.length - 1 ? whole : "", ""];
  }
  return ["", ""];
}

/** True if a source is one tag, comment, declaration, instruction or CDATA section. */
export const isTag = (source: string): boolean => TAG.exec(source)?.[0] === source;

export const isBreak = (source: string): boolean => /^<br\s*\/?>$/i.test(source);

export interface MarkTag {
  name: string;
  mark: string;
  closes: boolean;
  isWritten: boolean;
}

/** The tag, if it means a mark. */
export function markTag(source: string): MarkTag | undefined {
  const found = /^<(\/?)([a-z]+)\s*>$/i.exec(source);
  const name = found?.[2]?.toLowerCase() ?? "";
  const mark = Object.hasOwn(MARK_TAGS, name) ? MARK_TAGS[name] : undefined;
  if (!mark) return undefined;
  return { name, mark, closes: found?.[1] === "/", isWritten: WRITTEN.has(name) };
}
