/**
 * The exact document of a page, kept current with the steps of its edit log.
 *
 * Invariant: the document is the server's at the edit `seq` with the id `id`. An edit that is not the
 * next one, or does not apply, is refused: the caller then reads the whole document again.
 */
import { Node, Schema } from "prosemirror-model";
import { Step } from "prosemirror-transform";
import type { Edit, LiveView } from "../api/types";
import spec from "../doc/schema.json";
import type { Doc, DocNode } from "../doc/types";

const schema = new Schema(spec as ConstructorParameters<typeof Schema>[0]);
/** The JSON of blocks that did not change stays the same object, as the blocks themselves do. */
const known = new WeakMap<Node, DocNode>();

function jsonOf(block: Node): DocNode {
  const before = known.get(block);
  if (before) return before;
  const made = block.toJSON() as DocNode;
  known.set(block, made);
  return made;
}

export class EditLog {
  seq: number;
  id: string;
  title: string;
  #doc: Node;

  constructor(live: LiveView) {
    this.seq = live.seq;
    this.id = live.id;
    this.title = live.title;
    this.#doc = Node.fromJSON(schema, live.doc);
  }

  get doc(): Doc {
    const content: DocNode[] = [];
    this.#doc.forEach((block) => content.push(jsonOf(block)));
    return { type: "doc", content };
  }

  /** Applies edits; false, and nothing changed, if one of them is not the next or has no steps. */
  take(edits: readonly Edit[]): boolean {
    let [seq, id, title, doc] = [this.seq, this.id, this.title, this.#doc];
    for (const edit of edits) {
      if (edit.seq !== seq + 1 || (edit.steps === null && edit.title === null)) return false;
      try {
        for (const json of edit.steps ?? []) {
          const made = Step.fromJSON(schema, json).apply(doc).doc;
          if (!made) return false;
          doc = made;
        }
      } catch {
        return false;
      }
      seq = edit.seq;
      id = edit.id;
      title = edit.title ?? title;
    }
    [this.seq, this.id, this.title, this.#doc] = [seq, id, title, doc];
    return true;
  }
}
