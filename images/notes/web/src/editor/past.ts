/**
 * The edits that the server has accepted of a session, with what takes each of them back.
 *
 * A failover of the database may lose the last of them: the session then goes back to one that the server
 * still has, and sends its own again. Pure.
 */
import { Step } from "prosemirror-transform";
import type { StoredEdit } from "../sync/stored";
import { schema } from "./schema";
import type { Unsent } from "./unsent";

/** How many edits can be taken back, one's own and those of others between them. */
export const MOST_PAST = 500;

/** Before the first edit. */
const NONE = -1;

export interface Accepted {
  seq: number;
  id: string;
  /** True for an edit of this session; others send theirs themselves. */
  isOwn: boolean;
  title: string | null;
  /** The edit that it is based on. */
  before: { seq: number; id: string };
  steps: readonly Unsent[];
}

export class Past {
  edits: readonly Accepted[] = [];
  /** The edits that are not stored in the browser yet. */
  fresh: readonly Accepted[] = [];
  /** The stored edits after this one have been taken back. */
  cut: number | undefined;

  static of(stored: readonly StoredEdit[]): Past {
    const made = new Past();
    made.edits = stored.map(({ steps, inverted, ...more }) => ({
      ...more,
      steps: steps.map((json, at) => ({
        step: Step.fromJSON(schema, json),
        inverted: Step.fromJSON(schema, inverted[at]),
      })),
    }));
    return made;
  }

  add(edit: Accepted): void {
    // Before the first edit of its own a session has nothing to send again.
    if (!edit.isOwn && !this.edits.length) return;
    this.fresh = [...this.fresh, edit];
    this.edits = [...this.edits, edit].slice(-MOST_PAST);
  }

  /** Stores nothing of before: there is no room for it. This tab remembers it all the same. */
  storeNone(): void {
    [this.fresh, this.cut] = [[], NONE];
  }

  /** Forgets all edits after one. */
  goBack(seq: number): void {
    this.cut = Math.min(seq, this.cut ?? seq);
    this.edits = this.edits.filter((one) => one.seq <= seq);
    this.fresh = this.fresh.filter((one) => one.seq <= seq);
  }
}

/** An edit as the browser stores it. */
export const storedEdit = (client: string, { steps, ...more }: Accepted): StoredEdit => ({
  ...{ client, ...more },
  steps: steps.map(({ step }) => step.toJSON()),
  inverted: steps.map(({ inverted }) => inverted.toJSON()),
});
