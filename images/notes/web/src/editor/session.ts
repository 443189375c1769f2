/**
 * The editing of one page in this tab: its state, and the sending of what is typed.
 *
 * It lives longer than what is drawn: after "Done" it goes on until everything is sent. Invariant: one
 * request is on its way, it is stored before, and it is repeated as it is until its outcome is known.
 */
import type { EditorState, Plugin, Transaction } from "prosemirror-state";
import type { Node } from "prosemirror-model";
import { Step } from "prosemirror-transform";
import { ApiError, isBusy, UnreachableError } from "../api/client";
import type { Edits, LiveView } from "../api/types";
import type { Batch, Draft, StoredEdit } from "../sync/stored";
import { awaitedFrom, followed } from "./awaited";
import { Followed } from "./followed";
import type { Outside } from "./outside";
import { Past } from "./past";
import { docOf, nodeFrom, schema } from "./schema";
import { accept, batch, unsentOf } from "./unsent";

export type Saving = "saved" | "saving" | "kept" | "refused";

const MOST_STEPS = 100;
/** Before another try it waits one to two times as long: from 0.5 to 8 s, each editor at another time. */
const [FIRST_PAUSE, LAST_PAUSE] = [500, 4000];
/** Keys that are pressed within this time are sent together. */
const GATHER_MS = 150;

/** The document after a step that was applied to it before. */
export function applied(step: Step, doc: Node): Node {
  const { doc: made, failed } = step.apply(doc);
  if (!made) throw new Error(`a stored step does not apply (${failed})`);
  return made;
}

/** What a session needs of the world around it: the network, the store, and who hears of its changes. */
export interface SessionOutside extends Outside {
  changed(session: Session): void;
}

/** The session that a draft continues; undefined if what is stored of it is damaged, or of another version. */
export function resumed(...given: Parameters<typeof Session.resume>): Session | undefined {
  try {
    return Session.resume(...given);
  } catch {
    return undefined;
  }
}

export class Session extends Followed<SessionOutside> {
  saving: Saving = "saved";
  /** The reason of a refusal, in the server's words. */
  reason = "";
  /** True if the server refuses one change, which can be left out. */
  isOne = false;
  /** Called after each transaction, by what draws the document. */
  show: ((tr: Transaction) => void) | undefined;
  /** Takes in what the browser has done and not yet told: a click, a key. */
  readInput: (() => void) | undefined;
  /** Resolves when no letters are being composed, or after a while: until then what others write waits. */
  composed: (() => Promise<void>) | undefined;
  #most = MOST_STEPS;
  #running: Promise<void> | undefined;
  #heard: Promise<void> = Promise.resolve();
  #isStopped = false;
  #wanted: { seq: number; id: string } | undefined;

  /** The session that a draft continues; `edits` are those that it remembers. */
  static resume(
    draft: Draft,
    outside: SessionOutside,
    plugins: Plugin[] = [],
    edits: readonly StoredEdit[] = [],
  ): Session {
    const last = edits.findLast((one) => one.seq <= draft.seq);
    let doc = nodeFrom(draft.doc);
    for (const json of draft.passed) doc = applied(Step.fromJSON(schema, json), doc);
    const live = { ...draft, doc: draft.passed.length ? docOf(doc) : draft.doc };
    const made = new Session(draft.page, draft.user, draft.client, live, outside, plugins);
    const { tr } = made.state;
    for (const json of draft.steps) tr.step(Step.fromJSON(schema, json));
    made.state = made.state.apply(tr.setMeta("addToHistory", false));
    try {
      if (last?.id === draft.id) {
        made.keeper.past = Past.of(edits.filter((one) => one.seq <= draft.seq));
      }
      made.awaited = awaitedFrom(draft.awaited);
    } catch {
      // What was accepted is damaged: what is not sent goes on without it.
    }
    made.space = draft.space ?? "";
    made.lost = draft.lost ?? "";
    made.isWhole = draft.isWhole ?? false;
    made.n = draft.n;
    made.sending = draft.sending;
    made.newTitle = draft.newTitle;
    if (draft.newTitle !== null) made.title = draft.newTitle;
    return made;
  }

  /** False after a change that this browser could not store. */
  get isKept(): boolean {
    return this.keeper.isKept;
  }

  get liveView(): LiveView {
    const { seq, id, title } = this;
    return { seq, id, title, version: 0, doc: docOf(this.state.doc) };
  }

  now(): EditorState {
    this.readInput?.();
    return this.state;
  }

  apply(tr: Transaction): void {
    this.state = this.state.apply(tr);
    this.show?.(tr);
    if (tr.docChanged && tr.getMeta("rebased") === undefined) this.#changed();
  }

  rename(title: string): void {
    this.newTitle = this.title = title;
    this.#changed();
  }

  protected changed(): void {
    this.outside.changed(this);
  }

  #changed(): void {
    void this.keep();
    // After a refusal only a person, or the next start, tries again.
    if (this.saving !== "refused") this.start();
  }

  /** Begins to send what is not sent; a session that was refused tries again. */
  start(): void {
    if (this.#isStopped) return;
    if (this.isAccepted) {
      // It may be there again.
      if (this.lost) void this.check();
      return;
    }
    this.#running ??= this.#send().finally(() => {
      this.#running = undefined;
      if (!this.isAccepted && this.saving !== "refused") this.start();
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Takes back the change that the server refuses: it becomes a doubtful place, and the rest is sent. */
  leaveOut(): void {
    if (!this.isOne) return;
    this.isOne = false;
    this.receive([], this.seq, null, [], false, batch(this.state, 1).count);
    void this.keep();
    this.start();
  }

  /**
   * Reads the edits of others if the page is not at the edit of this session.
   *
   * `asked` is the number of the edit that this session was at when it asked the server; 0 for word that came
   * without a question, which may be late.
   */
  hear(seq: number, id: string, asked = 0): Promise<void> {
    this.#heard = this.#heard
      .then(async () => {
        // The outcome of a request that is on its way comes first: it may be one of those edits.
        this.#wanted = this.sending ? { seq, id } : undefined;
        // An answer is never late: an edit older than the one before the question means that the server has lost it.
        const isLate = asked <= seq && seq < this.seq && this.ids.includes(id);
        const isKnown = this.id === id || isLate;
        if (this.#isStopped || this.sending || isKnown) return;
        await this.composed?.();
        if (!this.#isStopped && !this.sending) await this.catchUp();
      })
      .catch(() => undefined);
    return this.#heard;
  }

  /** Asks the server if it still has the edit of this session, and reads those after it. */
  check(): Promise<void> {
    return this.hear(this.seq, "");
  }

  #say(saving: Saving, reason = ""): void {
    [this.saving, this.reason] = [saving, reason];
    this.outside.changed(this);
  }

  async #send(): Promise<void> {
    let pause = FIRST_PAUSE;
    let isBehind = false;
    if (this.saving !== "kept") this.#say("saving");
    while (!this.isAccepted && !this.#isStopped) {
      // After a refusal the server lets others wait for this editor.
      if (!this.sending && !isBehind) await this.outside.pause(GATHER_MS);
      if (this.isAccepted) break;
      const sending = (this.sending ??= this.#next());
      await this.keep();
      const { seq } = this;
      try {
        const found = await this.outside.send(this.page, this.client, sending.batch);
        this.took(found.seq, found.id);
        this.lost = "";
        pause = FIRST_PAUSE;
        isBehind = false;
        this.#most = Math.min(MOST_STEPS, this.#most * 2);
        this.#say("saving");
      } catch (error) {
        if (!(await this.#failed(error, sending))) {
          this.#say(error instanceof UnreachableError ? "kept" : "saving");
          await this.outside.pause(pause * (1 + Math.random()));
          pause = Math.min(pause * 2, LAST_PAUSE);
        }
        if (this.saving === "refused") return;
        isBehind = this.seq !== seq;
      }
    }
    if (this.isSent) {
      await this.keep();
      this.#say("saved");
    }
  }

  #next(): NonNullable<Draft["sending"]> {
    const { steps, count } = batch(this.state, this.#most);
    const made: Batch = {
      ...{ n: ++this.n, base_seq: this.seq, base_id: this.id },
      steps: steps.map((step) => step.toJSON()),
      ...(this.newTitle === null ? {} : { title: this.newTitle }),
    };
    return { batch: made, count };
  }

  protected took(seq: number, id: string): void {
    const sending = this.sending;
    if (!sending) return;
    const own = unsentOf(this.state).slice(0, sending.count);
    this.remember({
      ...{ seq, id, isOwn: true, title: sending.batch.title ?? null },
      steps: own,
    });
    this.apply(accept(this.now(), sending.count, { seq, author: this.user }));
    if (this.newTitle === sending.batch.title) this.newTitle = null;
    this.sending = null;
    const steps = own.map(({ step }) => step);
    this.awaited = followed(
      this.awaited,
      steps.map((step) => step.getMap()),
    );
    this.at(seq, id, steps);
    if (this.#wanted) void this.hear(this.#wanted.seq, this.#wanted.id);
  }

  /** True if the request may be sent again at once, perhaps as another one. */
  async #failed(error: unknown, sending: NonNullable<Draft["sending"]>): Promise<boolean> {
    if (!(error instanceof ApiError) || isBusy(error)) return false;
    try {
      const missed = error.current as Edits | undefined;
      if (error.status === 409 && missed) {
        const { base_seq: seq, base_id: id } = sending.batch;
        await this.composed?.();
        await this.take(missed, { seq, id });
        return true;
      }
      if (error.status === 410) {
        await this.replace();
        return true;
      }
    } catch {
      return false;
    }
    this.sending = null;
    const { length } = sending.batch.steps;
    if ([413, 422].includes(error.status) && length > 1) {
      // A large page takes few steps at once, and a request few large ones.
      this.#most = Math.floor(length / 2);
      return true;
    }
    this.isOne = error.status === 422 && length === 1;
    await this.lose(error);
    this.#say("refused", error.message);
    return true;
  }
}
