/**
 * Drafts with which no session goes on: what this browser has stored of them is damaged, or has parts that this version of
 * the workspace does not know. Their words are shown; what is stored stays, for a version that knows them. Pure.
 */
import { Step } from "prosemirror-transform";
import type { Doc, DocNode } from "../doc/types";
import { plainText } from "../doc/text";
import type { Draft } from "../sync/stored";
import { nodeFrom, schema } from "./schema";
import { applied } from "./session";

/** True if a stored draft cannot be made a session; undefined is one of which the content is missing. */
export function isDamaged(draft: Draft | undefined): boolean {
  if (!draft) return true;
  try {
    let doc = nodeFrom(draft.doc);
    for (const json of [...draft.passed, ...draft.steps]) {
      doc = applied(Step.fromJSON(schema, json), doc);
    }
    return false;
  } catch {
    return true;
  }
}

interface Replacing {
  from: number;
  to: number;
  slice?: { content?: DocNode[] };
}

/** What steps have written, in their order; letters that were typed one behind the other are one paragraph. */
export function writtenIn(steps: readonly unknown[]): Doc {
  const found: string[] = [];
  let end = -1;
  for (const one of steps as readonly (Partial<Replacing> | null)[]) {
    const { from = 0, to = 0, slice } = one ?? {};
    const content = Array.isArray(slice?.content) ? slice.content : [];
    const words = plainText({ type: "doc", content } as DocNode);
    const last = found.at(-1) ?? "";
    // What was typed and deleted at once is gone.
    const kept = last.slice(0, last.length - (end - from));
    if (!words && to === end && end - from < last.length) found[found.length - 1] = kept;
    else if (words && end >= 0 && from === end && to === end)
      found[found.length - 1] = last + words;
    else if (words) found.push(words);
    end = words || to === end ? from + words.length : -1;
  }
  const lines = found.flatMap((text) => text.split("\n")).filter((text) => text.trim());
  const content = lines.map((text) => ({ type: "paragraph", content: [{ type: "text", text }] }));
  return { type: "doc", content: content.length ? content : [{ type: "paragraph" }] } as Doc;
}
