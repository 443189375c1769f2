/** Stores what a session has not sent, what it remembers, and its doubtful places. */
import type { EditorState } from "prosemirror-state";
import type { Keeping } from "../sync/drafts";
import type { Draft } from "../sync/stored";
import { Past, storedEdit } from "./past";
import { doubtsOf } from "./places";
import { acceptedPos, unsentOf } from "./unsent";

export class Keeper {
  past = new Past();
  /** False after a change that this browser could not store. */
  isKept = true;
  #running: Promise<void> | undefined;
  #doubts: readonly string[] = [];

  constructor(readonly store: (keeping: Keeping) => Promise<boolean>) {}

  /** Has a doubtful place stored with the next change. */
  note(doubts: readonly string[]): void {
    this.#doubts = [...this.#doubts, ...doubts];
  }

  /** Stores the session as it is; one write at a time, the last one has all. */
  async keep(draft: () => Draft, state: () => EditorState, isSent: () => boolean): Promise<void> {
    await this.#running;
    this.#running ??= this.#write(draft(), state(), isSent()).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #write(draft: Draft, state: EditorState, isSent: boolean): Promise<void> {
    const { past } = this;
    const [fresh, cut, noted] = [past.fresh, past.cut, this.#doubts];
    const keeping: Keeping = {
      ...{ draft, isSent, cut, oldest: past.edits[0]?.seq },
      fresh: fresh.map((edit) => storedEdit(draft.client, edit)),
      doubts: this.#stored(draft, state),
    };
    try {
      this.isKept = await this.store(keeping);
    } catch {
      // Without room for what is remembered, what is not sent still has to be stored.
      const only = { ...keeping, fresh: [], oldest: undefined };
      this.isKept = await this.store(only).catch(() => false);
      past.storeNone();
    }
    if (!this.isKept) return;
    past.fresh = past.fresh.filter((one) => !fresh.includes(one));
    if (past.cut === cut) past.cut = undefined;
    this.#doubts = this.#doubts.filter((one) => !noted.includes(one));
  }

  #stored({ user, page, seq, id: edit }: Draft, state: EditorState): Keeping["doubts"] {
    const isExact = unsentOf(state).length === 0;
    return doubtsOf(state)
      .filter((one) => this.#doubts.includes(one.id))
      .map(({ id, mine, from, to }) => ({
        ...{ id, user, page, seq, edit, isExact },
        mine: mine.map((node) => node.toJSON() as unknown),
        from: acceptedPos(state, from),
        to: acceptedPos(state, to),
      }));
  }
}
