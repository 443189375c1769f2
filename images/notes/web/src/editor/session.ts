/**
 * The editing of one page in this tab: its state, and the sending of what is typed.
 *
 * It lives longer than what is drawn: after "Done" it goes on until everything is sent. Invariant: one
 * request is on its way, it is stored before, and it is repeated as it is until its outcome is known.
 */
import { history } from "prosemirror-history";
import { EditorState, type Plugin, type Transaction } from "prosemirror-state";
import { Step } from "prosemirror-transform";
import { ApiError, UnreachableError } from "../api/client";
import type { Edit, Edits, LiveView } from "../api/types";
import type { Batch, Draft } from "../sync/drafts";
import type { Outside } from "./outside";
import { docOf, nodeFrom, schema } from "./schema";
import { accept, acceptedDoc, batch, difference, receive, unsent, unsentOf } from "./unsent";

export type Saving = "saved" | "saving" | "kept" | "refused";

const MOST_STEPS = 100;
const [FIRST_PAUSE, LAST_PAUSE] = [500, 15_000];
/** Keys that are pressed within this time are sent together. */
const GATHER_MS = 150;

export class Session {
  state: EditorState;
  seq: number;
  id: string;
  title: string;
  saving: Saving = "saved";
  /** The reason of a refusal, in the server's words. */
  reason = "";
  lost = "";
  /** False after a change that this browser could not store. */
  isKept = true;
  /** Called after each transaction, by what draws the document. */
  show: ((tr: Transaction) => void) | undefined;
  #n = 0;
  #newTitle: string | null = null;
  #sending: Draft["sending"] = null;
  #accepted: Draft["doc"];
  #most = MOST_STEPS;
  #running: Promise<void> | undefined;
  #heard: Promise<void> = Promise.resolve();
  #keeping: Promise<void> | undefined;
  #isStopped = false;
  #wanted: { seq: number; id: string } | undefined;

  constructor(
    readonly page: string,
    readonly user: string,
    readonly client: string,
    live: Omit<LiveView, "version">,
    readonly outside: Outside,
    plugins: Plugin[] = [],
  ) {
    [this.seq, this.id, this.title, this.#accepted] = [live.seq, live.id, live.title, live.doc];
    this.state = EditorState.create({
      schema,
      doc: nodeFrom(live.doc),
      plugins: [unsent(), history(), ...plugins],
    });
  }

  /** The session that a draft continues. */
  static resume(draft: Draft, outside: Outside, plugins: Plugin[] = []): Session {
    const made = new Session(draft.page, draft.user, draft.client, draft, outside, plugins);
    const { tr } = made.state;
    for (const json of draft.steps) tr.step(Step.fromJSON(schema, json));
    made.state = made.state.apply(tr.setMeta("addToHistory", false));
    made.#n = draft.n;
    made.#sending = draft.sending;
    made.#newTitle = draft.newTitle;
    if (draft.newTitle !== null) made.title = draft.newTitle;
    return made;
  }

  get isSent(): boolean {
    return !unsentOf(this.state).length && this.#newTitle === null && !this.#sending;
  }

  get liveView(): LiveView {
    const { seq, id, title } = this;
    return { seq, id, title, version: 0, doc: docOf(this.state.doc) };
  }

  apply(tr: Transaction): void {
    this.state = this.state.apply(tr);
    this.show?.(tr);
    if (tr.docChanged && tr.getMeta("rebased") === undefined) this.#changed();
  }

  rename(title: string): void {
    this.#newTitle = this.title = title;
    this.#changed();
  }

  #changed(): void {
    void this.#keep();
    // After a refusal only a person, or the next start, tries again.
    if (this.saving !== "refused") this.start();
  }

  /** Begins to send what is not sent; a session that was refused tries again. */
  start(): void {
    if (this.isSent || this.#isStopped) return;
    this.#running ??= this.#send().finally(() => {
      this.#running = undefined;
      if (!this.isSent && this.saving !== "refused") this.start();
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Reads the edits of others if the page is not at the edit of this session. */
  hear(seq: number, id: string): Promise<void> {
    this.#heard = this.#heard
      .then(async () => {
        // The outcome of a request that is on its way comes first: it may be one of those edits.
        this.#wanted = this.#sending ? { seq, id } : undefined;
        const isKnown = this.id === id || this.seq > seq;
        if (!this.#isStopped && !this.#sending && !isKnown) await this.#catchUp();
      })
      .catch(() => undefined);
    return this.#heard;
  }

  #say(saving: Saving, reason = ""): void {
    [this.saving, this.reason] = [saving, reason];
    this.outside.changed(this);
  }

  /** Stores what is not sent, or deletes the draft; one write at a time, the last one has all. */
  async #keep(): Promise<void> {
    await this.#keeping;
    this.#keeping ??= (async () => {
      if (this.isSent) await this.outside.remove(this.client);
      else this.isKept = await this.outside.keep(this.#draft());
    })()
      .catch(() => {
        this.isKept = false;
      })
      .finally(() => {
        this.#keeping = undefined;
      });
    await this.#keeping;
  }

  #draft(): Draft {
    const { client, user, page, seq, id, title } = this;
    return {
      ...{ client, user, page, seq, id, title, doc: this.#accepted, n: this.#n },
      steps: unsentOf(this.state).map(({ step }) => step.toJSON()),
      newTitle: this.#newTitle,
      sending: this.#sending,
    };
  }

  async #send(): Promise<void> {
    let pause = FIRST_PAUSE;
    if (this.saving !== "kept") this.#say("saving");
    while (!this.isSent && !this.#isStopped) {
      if (!this.#sending) await this.outside.pause(GATHER_MS);
      if (this.isSent) break;
      const sending = (this.#sending ??= this.#next());
      await this.#keep();
      try {
        const found = await this.outside.send(this.page, this.client, sending.batch);
        this.#took(found.seq, found.id);
        pause = FIRST_PAUSE;
        this.#most = Math.min(MOST_STEPS, this.#most * 2);
        this.#say("saving");
      } catch (error) {
        if (!(await this.#failed(error, sending))) {
          this.#say(error instanceof UnreachableError ? "kept" : "saving");
          await this.outside.pause(pause * (0.75 + Math.random() / 2));
          pause = Math.min(pause * 2, LAST_PAUSE);
        }
        if (this.saving === "refused") return;
      }
    }
    if (this.isSent) {
      await this.#keep();
      this.#say("saved");
    }
  }

  #next(): NonNullable<Draft["sending"]> {
    const { steps, count } = batch(this.state, this.#most);
    const made: Batch = {
      ...{ n: ++this.#n, base_seq: this.seq, base_id: this.id },
      steps: steps.map((step) => step.toJSON()),
      ...(this.#newTitle === null ? {} : { title: this.#newTitle }),
    };
    return { batch: made, count };
  }

  /** The server has accepted what is being sent. */
  #took(seq: number, id: string): void {
    const sending = this.#sending;
    if (!sending) return;
    this.apply(accept(this.state, sending.count, { seq, author: this.user }));
    if (this.#newTitle === sending.batch.title) this.#newTitle = null;
    this.#sending = null;
    this.#at(seq, id);
    if (this.#wanted) void this.hear(this.#wanted.seq, this.#wanted.id);
  }

  #at(seq: number, id: string): void {
    [this.seq, this.id] = [seq, id];
    this.#accepted = docOf(acceptedDoc(this.state));
  }

  /** True if the request may be sent again at once, perhaps as another one. */
  async #failed(error: unknown, sending: NonNullable<Draft["sending"]>): Promise<boolean> {
    if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return false;
    try {
      const missed = error.current as Edits | undefined;
      if (error.status === 409 && missed) {
        await this.#take(missed);
        return true;
      }
      if (error.status === 410) {
        await this.#replace();
        return true;
      }
    } catch {
      return false;
    }
    this.#sending = null;
    if (error.status === 422 && this.#most > 1 && sending.batch.steps.length > 1) {
      // A large page takes few steps at once.
      this.#most = Math.max(1, Math.floor(sending.batch.steps.length / 2));
      return true;
    }
    this.#say("refused", error.message);
    return true;
  }

  async #catchUp(): Promise<void> {
    try {
      await this.#take(await this.outside.since(this.page, this.seq, this.id));
    } catch (error) {
      if (error instanceof ApiError && error.status === 410) await this.#replace();
      else throw error;
    }
  }

  /** Applies the edits after the one that this session knows; reads on until there are no more. */
  async #take(found: Edits): Promise<void> {
    let listed = found;
    for (;;) {
      if (!listed.is_known || !listed.edits.every((edit) => this.#edit(edit))) {
        await this.#replace();
        return;
      }
      if (this.seq >= listed.seq || !listed.edits.length) break;
      listed = await this.outside.since(this.page, this.seq, this.id);
    }
    await this.#keep();
    this.outside.changed(this);
  }

  /** Applies one edit of the log; false if it has to be read as a whole. */
  #edit(edit: Edit): boolean {
    if (edit.seq <= this.seq) return true;
    if (edit.seq !== this.seq + 1 || (edit.steps === null && edit.title === null)) return false;
    try {
      const steps = (edit.steps ?? []).map((json) => Step.fromJSON(schema, json));
      this.#receive(steps, edit.seq, edit.author_id);
    } catch {
      return false;
    }
    if (edit.title !== null && this.#newTitle === null) this.title = edit.title;
    // Another edit has its place: what was being sent cannot be accepted any more.
    this.#sending = null;
    this.#at(edit.seq, edit.id);
    return true;
  }

  #receive(steps: readonly Step[], seq: number, author: string | null = null): void {
    const { tr, lost } = receive(this.state, steps, { seq, author });
    this.lost += lost;
    this.apply(tr);
  }

  /** Goes to the server's document, whatever happened between, and keeps what is not sent. */
  async #replace(): Promise<void> {
    const live = await this.outside.live(this.page);
    this.#sending = null;
    this.#receive(difference(acceptedDoc(this.state), nodeFrom(live.doc)), live.seq);
    if (this.#newTitle === null) this.title = live.title;
    this.#at(live.seq, live.id);
    await this.#keep();
    this.outside.changed(this);
  }
}
