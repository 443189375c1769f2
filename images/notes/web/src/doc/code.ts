/** Finds the words of a programming language in code that matter to readers. Pure: text in, places out. */

export type Kind = "comment" | "string" | "number" | "keyword" | "added" | "removed";
export interface Token {
  kind: Kind;
  from: number;
  to: number;
}

interface Grammar {
  comments: string[];
  strings: string[];
  keywords: string;
  isCaseless?: boolean;
}

const LINE = String.raw`\/\/[^\n]*`;
const BLOCK = String.raw`\/\*[\s\S]*?(?:\*\/|$)`;
const HASH = String.raw`#[^\n]*`;
const DASHES = String.raw`--[^\n]*`;
const DOUBLE = String.raw`"(?:\\[\s\S]|[^"\\\n])*"?`;
const SINGLE = String.raw`'(?:\\[\s\S]|[^'\\\n])*'?`;
const BACKTICK = "`(?:\\\\[\\s\\S]|[^`\\\\])*`?";

const C_LIKE: Grammar = {
  comments: [LINE, BLOCK],
  strings: [DOUBLE, SINGLE, BACKTICK],
  keywords:
    "abstract as async await bool boolean break case catch char class const constexpr continue " +
    "default defer delete do double else enum explicit export extends extern false final finally " +
    "float fn for func function go goto if impl implements import in inline instanceof int " +
    "interface internal is let long loop match mod mut namespace new nil null nullptr of " +
    "override package private protected public pub readonly return select self short signed " +
    "sizeof static string struct super switch template this throw throws trait true try type " +
    "typedef typeof undefined union unsafe unsigned use using val var virtual void volatile " +
    "where while yield",
};
const PYTHON: Grammar = {
  comments: [HASH],
  strings: [String.raw`"""[\s\S]*?(?:"""|$)`, String.raw`'''[\s\S]*?(?:'''|$)`, DOUBLE, SINGLE],
  keywords:
    "and as assert async await break case class continue def del elif else except False finally " +
    "for from global if import in is lambda match None nonlocal not or pass raise return self " +
    "True try while with yield",
};
const RUBY: Grammar = {
  comments: [HASH],
  strings: [DOUBLE, SINGLE],
  keywords:
    "and begin break case class def do else elsif end ensure false for if in module next nil not " +
    "or redo require rescue retry return self super then true unless until when while yield",
};
const SHELL: Grammar = {
  comments: [String.raw`(?<![^\s;&|(])#[^\n]*`],
  strings: [DOUBLE, String.raw`'[^']*'?`],
  keywords:
    "case do done elif else esac exit export fi for function if in local return set then until while",
};
const SQL: Grammar = {
  comments: [DASHES, BLOCK],
  strings: [String.raw`'(?:''|[^'])*'?`],
  keywords:
    "add all alter and as asc begin between by case check column commit constraint create cross " +
    "database default delete desc distinct drop else end exists false foreign from full function " +
    "grant group having if in index inner insert into is join key lateral left like limit not " +
    "null offset on or order outer over partition primary references returning revoke right " +
    "rollback row schema select set table then to transaction trigger true truncate union unique " +
    "update using values view when where with",
  isCaseless: true,
};
const DATA: Grammar = {
  comments: [String.raw`(?<![^\s])#[^\n]*`, LINE, BLOCK],
  strings: [DOUBLE, SINGLE],
  keywords: "true false null yes no on off",
};
const MARKUP: Grammar = {
  comments: [String.raw`<!--[\s\S]*?(?:-->|$)`],
  strings: [DOUBLE, SINGLE],
  keywords: "",
};
const STYLE: Grammar = {
  comments: [BLOCK],
  strings: [DOUBLE, SINGLE],
  keywords: "important media supports import layer container keyframes",
};
const DOCKER: Grammar = {
  comments: [String.raw`(?<![^\n])#[^\n]*`],
  strings: [DOUBLE, SINGLE],
  keywords:
    "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL " +
    "STOPSIGNAL USER VOLUME WORKDIR",
};

const NAMES: [Grammar, string][] = [
  [
    C_LIKE,
    "c cc cpp c++ h hpp cs csharp dart go golang groovy java javascript js jsx kotlin kt php rs " +
      "rust scala swift ts tsx typescript zig",
  ],
  [PYTHON, "py python python3 starlark"],
  [RUBY, "rb ruby"],
  [SHELL, "bash console fish sh shell zsh"],
  [SQL, "mysql plpgsql postgresql psql sql sqlite"],
  [DATA, "conf ini json json5 jsonc toml yaml yml"],
  [MARKUP, "html svg vue xml"],
  [STYLE, "css less scss"],
  [DOCKER, "docker dockerfile"],
];
const GRAMMARS = new Map(
  NAMES.flatMap(([grammar, all]) => all.split(" ").map((n) => [n, grammar])),
);
const NUMBER = String.raw`(?<![\w.])(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\w*`;
const WORD = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
/** So much of one block is looked at: more is no code that somebody reads here. */
const MOST_CHARACTERS = 100_000;

const made = new Map<Grammar, { pattern: RegExp; keywords: Set<string> }>();

function compiled(grammar: Grammar): { pattern: RegExp; keywords: Set<string> } {
  const known = made.get(grammar);
  if (known) return known;
  const group = (name: string, parts: string[]): string => `(?<${name}>${parts.join("|")})`;
  const parts = [
    group("comment", grammar.comments),
    group("string", grammar.strings),
    group("number", [NUMBER]),
    group("keyword", [WORD]),
  ];
  const found = {
    pattern: new RegExp(parts.join("|"), "gu"),
    keywords: new Set(grammar.keywords.split(" ")),
  };
  made.set(grammar, found);
  return found;
}

/** The places of a difference: lines that were added and removed. */
function ofDifference(text: string): Token[] {
  return [...text.matchAll(/^[+-][^\n]*/gm)].map((found) => ({
    kind: found[0].startsWith("+") ? "added" : "removed",
    from: found.index,
    to: found.index + found[0].length,
  }));
}

/** The places in code of a language; none for a language that is not known. */
export function tokens(text: string, language: string): Token[] {
  const name = language.toLowerCase();
  const looked = text.slice(0, MOST_CHARACTERS);
  if (name === "diff" || name === "patch") return ofDifference(looked);
  const grammar = GRAMMARS.get(name);
  if (!grammar) return [];
  const { pattern, keywords } = compiled(grammar);
  const found: Token[] = [];
  for (const one of looked.matchAll(pattern)) {
    const groups = one.groups as Record<string, string | undefined>;
    const kind = (["comment", "string", "number", "keyword"] as const).find((k) => groups[k]);
    const word = grammar.isCaseless ? one[0].toLowerCase() : one[0];
    if (!kind || (kind === "keyword" && !keywords.has(word))) continue;
    found.push({ kind, from: one.index, to: one.index + one[0].length });
  }
  return found;
}
