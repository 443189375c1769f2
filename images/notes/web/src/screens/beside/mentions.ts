/**
 * The mentions of a comment. It is stored as `[@Ada](mention:<id>)`, and written and read as `@Ada`. Decides
 * from the texts alone.
 */
import type { Person } from "../../api/types";

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const STORED = new RegExp(`\\[(@[^\\[\\]\\n]{1,200})\\]\\(mention:(${ID})\\)`, "g");
const MOST_TYPED = 40;

/** A part of a comment; with an `id` it is a mention. */
export interface Part {
  text: string;
  id?: string;
}

export function partsOf(body: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const found of body.matchAll(STORED)) {
    if (found.index > at) parts.push({ text: body.slice(at, found.index) });
    parts.push({ text: found[1] ?? "", id: found[2] ?? "" });
    at = found.index + found[0].length;
  }
  if (at < body.length) parts.push({ text: body.slice(at) });
  return parts;
}

/** The text of a name as it is written: without what ends a mention. */
export const signOf = (name: string): string => `@${name.replace(/[[\]\s]+/g, " ").trim()}`;

/** A stored comment as its writer sees it, with the people of its mentions in their order. */
export function writable(body: string): { text: string; people: Person[] } {
  const parts = partsOf(body);
  const people = parts.flatMap(({ id, text }) => (id ? [{ id, name: text.slice(1) }] : []));
  return { text: parts.map((one) => one.text).join(""), people };
}

/**
 * A written comment as it is stored: each `@Name` of the chosen people is a mention. Of two people with one
 * name, the first is the one who was chosen first.
 */
export function stored(text: string, people: readonly Person[]): string {
  const ids = new Map<string, string[]>();
  for (const { id, name } of people) ids.set(signOf(name), [...(ids.get(signOf(name)) ?? []), id]);
  // A longer name first: it may begin with another one.
  const signs = [...ids.keys()].sort((a, b) => b.length - a.length);
  if (!signs.length) return text;
  const quoted = signs.map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${quoted.join("|")})(?![\\p{L}\\p{N}])`, "gu");
  return text.replace(pattern, (sign) => {
    const known = ids.get(sign) ?? [];
    const id = known.length > 1 ? known.shift() : known[0];
    return `[${sign}](mention:${id})`;
  });
}

/** What is typed behind the `@` before the caret, and where that is; undefined if none is. */
export function typedAt(text: string, caret: number): { at: number; typed: string } | undefined {
  const at = text.lastIndexOf("@", caret - 1);
  if (at < 0 || caret - at - 1 > MOST_TYPED || !/(^|[\s(])$/.test(text.slice(0, at)))
    return undefined;
  const typed = text.slice(at + 1, caret);
  return /[\n@]|^\s|\s\s/.test(typed) ? undefined : { at, typed };
}
