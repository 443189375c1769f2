/**
 * A text whose page is gone, with its doubtful places behind it, as a document that the server takes. Pure.
 *
 * Invariant: the result is the same for the same words, since the key of the new page is made of it; each footnote has a
 * label of its own.
 */
import type { Node } from "prosemirror-model";
import { plainText } from "../../doc/text";
import type { Doc, DocNode } from "../../doc/types";
import { nodesOf } from "../../editor/places";
import { docOf, schema } from "../../editor/schema";

const [LINE, CELLS, NONE] = [["paragraph"], ["tableRow", "table"], []] as readonly string[][];
/** What the parts of blocks stand in, from the inside; a place may be about some rows or items only. */
const AROUND: Readonly<Record<string, readonly string[] | undefined>> = {
  ...{ tableCell: CELLS, tableHeader: CELLS, tableRow: ["table"] },
  ...{ listItem: ["bulletList"], taskItem: ["taskList"] },
};

/** The nodes as blocks of a document: what belongs together is in one table, list or paragraph. */
function asBlocks(nodes: readonly Node[]): Node[] {
  const groups: { around: readonly string[] | undefined; nodes: Node[] }[] = [];
  for (const node of nodes) {
    const around = node.isInline ? LINE : (AROUND[node.type.name] ?? NONE);
    const last = groups.at(-1);
    if (last && last.around === around && around !== NONE) last.nodes.push(node);
    else groups.push({ around, nodes: [node] });
  }
  return groups.flatMap(({ around = [], nodes }) =>
    around.reduce((inner, name) => [schema.node(name, null, inner)], nodes),
  );
}

/** A node with what its kind needs inside: one at the end of a cut has lost that. Throws if nothing helps. */
function filled(node: Node): Node {
  if (node.isText) return node;
  const made = node.type.createAndFill(node.attrs, node.children.map(filled), node.marks);
  if (!made) throw new RangeError(`${node.type.name} cannot have its content`);
  made.check();
  return made;
}

/** Two labels that are the same here are the same for the server, which compares them by their case folding. */
const folded = (label: string): string => label.toLowerCase().toUpperCase();
const cut = (label: string, length: number): string => [...label].slice(0, length).join("");
/** A label without what the server refuses in one. */
const clean = (label: unknown): string =>
  cut(String(label).replace(/[\s\p{C}\p{Z}[\]\\|`]/gu, ""), 60) || "1";

function* labelsIn(nodes: readonly DocNode[]): Generator<string> {
  for (const { type, attrs, content = [] } of nodes) {
    if (type === "footnoteReference") yield folded(clean(attrs?.label));
    yield* labelsIn(content);
  }
}

function renamed(node: DocNode, names: ReadonlyMap<string, string>): DocNode {
  const content = node.content?.map((child) => renamed(child, names));
  const made = content ? { ...node, content } : node;
  if (node.type !== "footnoteReference") return made;
  const label = clean(node.attrs?.label);
  return { ...made, attrs: { ...node.attrs, label: names.get(folded(label)) ?? label } };
}

/** The nodes with footnotes whose labels are not `taken`, which gets them; references to them go along. */
function relabelled(
  nodes: readonly DocNode[],
  taken: Set<string>,
  referred: ReadonlySet<string>,
): DocNode[] {
  const names = new Map<string, string>();
  const made = nodes.map((node) => {
    if (node.type !== "footnote") return node;
    const before = clean(node.attrs?.label);
    let label = before;
    // A new label must not be that of a reference which has lost its footnote.
    for (let n = 2; taken.has(folded(label)) || (n > 2 && referred.has(folded(label))); n += 1)
      label = `${cut(before, 50)}-${n}`;
    taken.add(folded(label));
    // Of two footnotes with the same label, the first one is meant.
    if (!names.has(folded(before))) names.set(folded(before), label);
    return { ...node, attrs: { ...node.attrs, label } };
  });
  return made.map((node) => renamed(node, names));
}

/** A place as blocks and footnotes; its words alone if this version does not know its parts. */
function fitted(place: readonly DocNode[]): DocNode[] {
  try {
    return asBlocks(nodesOf(place)).map((node) => docOf(filled(node)));
  } catch {
    const lines = plainText({ type: "doc", content: [...place] }).split("\n");
    const texts = lines.filter((text) => text.trim());
    return texts.map((text) => ({ type: "paragraph", content: [{ type: "text", text }] }));
  }
}

/** A document with what was written at doubtful places behind its blocks; the footnotes of both are at its end. */
export function withPlaces(doc: Doc, places: readonly (readonly unknown[])[]): Doc {
  const all = [doc.content, ...(places as readonly DocNode[][])];
  const [taken, referred] = [new Set<string>(), new Set(labelsIn(all.flat()))];
  const content = all.flatMap((nodes, at) => {
    const made = relabelled(nodes, taken, referred);
    return at ? fitted(made) : made;
  });
  const isNote = ({ type }: DocNode): boolean => type === "footnote";
  return {
    ...doc,
    content: [...content.filter((one) => !isNote(one)), ...content.filter(isNote)],
  };
}
