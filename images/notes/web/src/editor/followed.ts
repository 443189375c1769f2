/**
 * The document of one page in step with the server's log: edits of others come in, below what is not sent.
 *
 * Invariant: the document without the unsent steps is the server's at the edit `seq` with the id `id`. If
 * the server has lost edits, it goes back to one that the server still has, and its own after that are unsent again.
 */
import { history } from "prosemirror-history";
import { EditorState, type Plugin, type Transaction } from "prosemirror-state";
import { Step } from "prosemirror-transform";
import { ApiError } from "../api/client";
import type { Edit, Edits, LiveView } from "../api/types";
import type { Draft } from "../sync/stored";
import { lastKnown, lostTitle, type Place, placeAt, stepsOf, undone } from "./failover";
import { type Awaited, followed, storedAwaited } from "./awaited";
import { settled } from "./come_back";
import { Keeper } from "./keeper";
import type { Outside } from "./outside";
import { type Lost, type Range, writtenBy } from "./overlap";
import type { Accepted } from "./past";
import { doubts, withDoubts } from "./places";
import { docOf, nodeFrom, schema } from "./schema";
import {
  acceptedDoc,
  difference,
  receive,
  takenBack,
  type Undone,
  unsent,
  unsentOf,
} from "./unsent";

/** Word of so many edits may come late. */
const MOST_IDS = 200;
/** After so many accepted steps a draft is stored with a newer content. */
const MOST_PASSED = 200;

export abstract class Followed<Around extends Outside> {
  state: EditorState;
  seq: number;
  id: string;
  title: string;
  /** Why the page takes no text any more, in the server's words; empty while it does. */
  lost = "";
  /** The space of the page, as far as it is known. */
  space = "";
  /** True if the whole text is its person's, who has saved it as this page. */
  protected isWhole = false;
  protected n = 0;
  protected newTitle: string | null = null;
  protected sending: Draft["sending"] = null;
  /** A content of the page, and the accepted steps since: stored with each key, so it seldom changes. */
  private base: Pick<Draft, "base" | "doc" | "passed">;
  /** What waits until others have sent again what it is about. */
  protected awaited: readonly Awaited[] = [];
  /** What others wrote with their last steps, in the server's document. */
  private written: readonly Range[] = [];
  private doubted = 0;
  protected readonly keeper: Keeper;
  /** The last edits that it was at, the newest last. */
  protected ids: readonly string[] = [];

  constructor(
    readonly page: string,
    readonly user: string,
    readonly client: string,
    live: Omit<LiveView, "version">,
    readonly outside: Around,
    plugins: Plugin[] = [],
  ) {
    [this.seq, this.id, this.title] = [live.seq, live.id, live.title];
    this.base = { base: `${live.seq} ${live.id}`, doc: live.doc, passed: [] };
    this.keeper = new Keeper((keeping) => outside.keep(keeping));
    this.state = EditorState.create({
      schema,
      doc: nodeFrom(live.doc),
      plugins: [unsent(), history(), doubts(), ...plugins],
    });
  }

  /** Begins to send what is not sent. */
  abstract start(): void;
  abstract apply(tr: Transaction): void;
  /** The state with all that its person has done: whoever else changes it begins from here. */
  abstract now(): EditorState;
  /** The server has accepted what is being sent. */
  protected abstract took(seq: number, id: string): void;
  /** Tells what draws the page. */
  protected abstract changed(): void;

  /** True if there is nothing to send. */
  protected get isAccepted(): boolean {
    return !unsentOf(this.state).length && this.newTitle === null && !this.sending;
  }

  /** True for a title that the server has not taken yet. */
  get hasNewTitle(): boolean {
    return this.newTitle !== null;
  }

  /** True if the server has everything: what it has accepted at a page that is gone, it has no more. */
  get isSent(): boolean {
    return this.isAccepted && !this.lost;
  }

  protected keep(): Promise<void> {
    return this.keeper.keep(
      () => this.draft(),
      () => this.state,
      () => this.isSent,
    );
  }

  private draft(): Draft {
    const { client, user, page, seq, id, title } = this;
    return {
      ...{ client, user, page, seq, id, title, n: this.n, ...this.base },
      steps: unsentOf(this.state).map(({ step }) => step.toJSON()),
      newTitle: this.newTitle,
      sending: this.sending,
      ...{ space: this.space, isWhole: this.isWhole },
      ...(this.lost ? { lost: this.lost } : {}),
      ...(this.awaited.length ? { awaited: storedAwaited(this.awaited) } : {}),
    };
  }

  protected remember(edit: Omit<Accepted, "before">): void {
    this.keeper.past.add({ ...edit, before: { seq: this.seq, id: this.id } });
  }

  /** It is at another edit now, by these steps; without them, at a content that has nothing to do with the last. */
  protected at(seq: number, id: string, steps?: readonly Step[]): void {
    this.ids = [...this.ids.slice(1 - MOST_IDS), this.id];
    [this.seq, this.id] = [seq, id];
    const { base, doc, passed } = this.base;
    if (steps && passed.length + steps.length <= MOST_PASSED) {
      this.base = { base, doc, passed: [...passed, ...steps.map((step) => step.toJSON())] };
    } else {
      this.base = { base: `${seq} ${id}`, doc: docOf(acceptedDoc(this.state)), passed: [] };
    }
    this.settle();
  }

  /** Changes again what has come back, or lists it as a doubtful place. */
  private settle(): void {
    for (const one of this.awaited) {
      const found = settled(this.now(), one, this.written);
      if (!found) continue;
      this.awaited = this.awaited.filter((other) => other !== one);
      this.apply("mine" in found ? this.doubt(this.state.tr, [found]) : found);
    }
    this.written = [];
  }

  private doubt(tr: Transaction, lost: readonly Lost[]): Transaction {
    const added = lost.map((one) => ({
      ...one,
      id: `${this.client} ${this.seq} ${Date.now()} ${(this.doubted += 1)}`,
    }));
    this.keeper.note(added.map((one) => one.id));
    return withDoubts(tr, added);
  }

  protected async catchUp(): Promise<void> {
    const { seq, id } = this;
    try {
      await this.take(await this.outside.since(this.page, seq, id), { seq, id });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 410)) {
        await this.lose(error);
        throw error;
      }
      await this.replace();
    }
    if (!this.lost) return;
    this.lost = "";
    await this.kept();
  }

  /** The server refuses the page: what was written there, and is nowhere else any more, is a text of its own. */
  protected async lose(error: unknown): Promise<void> {
    if (!(error instanceof ApiError && [403, 404].includes(error.status))) return;
    const isOwn = this.isWhole || this.keeper.past.edits.some((edit) => edit.isOwn);
    const isGone =
      !this.isAccepted || (isOwn && (await this.outside.isGone(this.page, this.space)));
    if (!isGone) return;
    this.lost = error.message;
    await this.kept();
  }

  /** Applies the edits after `base`, where this session was; reads on until there are no more. */
  protected async take(found: Edits, base: Place): Promise<void> {
    const { id } = this;
    let [listed, from] = [found, base];
    for (;;) {
      // While the server was asked, an own edit may have been accepted. Its number is not enough: if it was lost
      // after that, another one has it in the list.
      const isHere = this.id === from.id || listed.edits.some((edit) => edit.id === this.id);
      if (isHere && !listed.is_known) return this.goBack();
      if (isHere && !listed.edits.every((edit) => this.edit(edit))) return this.replace();
      if (isHere && (this.seq >= listed.seq || !listed.edits.length)) break;
      from = { seq: this.seq, id: this.id };
      listed = await this.outside.since(this.page, from.seq, from.id);
    }
    if (this.id !== id) await this.kept();
  }

  private async kept(): Promise<void> {
    await this.keep();
    this.changed();
  }

  /** Applies one edit of the log; false if it has to be read as a whole. */
  private edit(edit: Edit): boolean {
    const { seq, id, title } = edit;
    if (seq <= this.seq) return true;
    // Each writer of a page reads the others' ids, and could send under one of them.
    const isOwn = edit.client === this.client && edit.author_id === this.user;
    if (this.sending && isOwn && edit.n === this.sending.batch.n) {
      // The log tells it sooner than the answer to the request.
      this.took(seq, id);
      return true;
    }
    if (seq !== this.seq + 1 || (edit.steps === null && title === null)) return false;
    let steps: Step[];
    try {
      steps = (edit.steps ?? []).map((json) => Step.fromJSON(schema, json));
      const inverted = this.receive(steps, seq, edit.author_id);
      this.remember({ ...{ seq, id, isOwn, title }, steps: paired(steps, inverted) });
    } catch {
      return false;
    }
    if (title !== null && this.newTitle === null) this.title = title;
    // Another edit has its place: what was being sent cannot be accepted any more.
    this.sending = null;
    this.at(seq, id, steps);
    return true;
  }

  /** Applies steps below the unsent ones; returns what takes them back. */
  protected receive(
    steps: readonly Step[],
    seq: number,
    author: string | null = null,
    past: readonly Undone[] = [],
    isLoss = false,
    refused = 0,
  ): Step[] {
    const { tr, inverted, lost, awaited } = receive(
      this.now(),
      steps,
      { seq, author },
      past,
      isLoss,
      refused,
    );
    if (lost.length) this.doubt(tr, lost);
    const maps = [
      ...past.map((one) => one.inverted.getMap()).reverse(),
      ...steps.map((step) => step.getMap()),
    ];
    this.awaited = [...followed(this.awaited, maps), ...awaited];
    this.written = writtenBy(steps);
    this.apply(tr);
    return inverted;
  }

  /** Goes back to an edit that the server still has, and sends its own after that again. */
  private async goBack(): Promise<void> {
    const { edits } = this.keeper.past;
    const { page, seq, id, sending } = this;
    const known = await lastKnown(edits, (place) => this.outside.since(page, place.seq, place.id));
    if (!edits.length) return this.replace();
    const [at, since] = [known?.at ?? -1, known?.since ?? []];
    const lost = edits.slice(at + 1);
    const past = undone(lost, since);
    const steps = known && stepsOf(since);
    const live = steps ? undefined : await this.outside.live(page);
    // Meanwhile it has gone on: the next word of the server begins anew.
    if (this.seq !== seq || this.id !== id || this.sending !== sending) return;
    const place = placeAt(edits, at);
    const isOwn = new Set(edits.filter((edit) => edit.isOwn).map((edit) => edit.id));
    const flat =
      steps?.flat() ?? difference(takenBack(this.state, past), nodeFrom((live as LiveView).doc));
    const end = live ?? since.at(-1) ?? place;
    const inverted = this.receive(flat, end.seq, null, past, !known);
    this.sending = null;
    this.keeper.past.goBack(place.seq);
    const title = live?.title ?? since.findLast((edit) => edit.title !== null)?.title;
    this.newTitle ??= lostTitle(lost, since);
    this.title = this.newTitle ?? title ?? this.title;
    // What leads to a content that was read as a whole is one step back, as any other edit.
    if (live) {
      this.keeper.past.add({
        ...{ seq: end.seq, id: end.id, isOwn: false, title: null, before: place },
        steps: paired(flat, inverted),
      });
    }
    let [before, done]: [{ seq: number; id: string }, number] = [place, 0];
    for (const [index, own] of (steps ?? []).entries()) {
      const { seq: at, id: one, title: named } = since[index] as Edit;
      this.keeper.past.add({
        ...{ seq: at, id: one, isOwn: isOwn.has(one), title: named, before },
        steps: paired(own, inverted.slice(done, done + own.length)),
      });
      done += own.length;
      before = { seq: at, id: one };
    }
    this.at(end.seq, end.id);
    await this.kept();
    this.start();
  }

  /** Goes to the server's document, whatever happened between, and keeps what is not sent. */
  protected async replace(): Promise<void> {
    const { id: before, sending } = this;
    const { seq, id, title, doc } = await this.outside.live(this.page);
    // Meanwhile it has gone on, or sends what the answer may have already: the next word begins anew.
    if (this.id !== before || this.sending !== sending) return;
    this.sending = null;
    const steps = difference(acceptedDoc(this.state), nodeFrom(doc));
    const inverted = this.receive(steps, seq);
    this.remember({ ...{ seq, id, isOwn: false, title: null }, steps: paired(steps, inverted) });
    if (this.newTitle === null) this.title = title;
    this.at(seq, id);
    await this.kept();
  }
}

const paired = (steps: readonly Step[], inverted: readonly Step[]): Accepted["steps"] =>
  steps.map((step, at) => ({ step, inverted: inverted[at] as Step }));
