/** A server's edit log and the sessions of editors at it, for tests. */
import assert from "node:assert/strict";
import type { Node } from "prosemirror-model";
import { Step } from "prosemirror-transform";
import { ApiError, UnreachableError } from "../../src/api/client";
import type { Edit, Edits } from "../../src/api/types";
import type { Doc } from "../../src/doc/types";
import { docOf, nodeFrom, schema } from "../../src/editor/schema";
import { Session, type SessionOutside } from "../../src/editor/session";
import type { Keeping } from "../../src/sync/drafts";
import type { Batch, Draft, StoredDoubt, StoredEdit } from "../../src/sync/stored";

const line = (text: string) => ({
  type: "paragraph",
  ...(text ? { content: [{ type: "text", text }] } : {}),
});
export const docWith = (...lines: string[]): Doc =>
  ({ type: "doc", content: lines.map(line) }) as Doc;
export const text = (doc: Node): string => doc.textBetween(0, doc.content.size, "|");

/** The server's log: as strict as the real one about bases, repeats and steps. */
export class Server {
  static made = 0;
  edits: Edit[] = [];
  fail: ("before" | "after" | "refuse")[] = [];
  stored = new Map<string, Draft>();
  remembered: Draft | undefined;
  accepted: StoredEdit[] = [];
  doubts: StoredDoubt[] = [];
  doc: Node;
  docs: Node[];
  first: string;

  constructor(
    doc: Doc,
    readonly title = "T",
    name = "0",
  ) {
    this.doc = nodeFrom(doc);
    this.docs = [this.doc];
    this.first = name;
  }

  get seq(): number {
    return this.edits.length;
  }
  get id(): string {
    return this.edits.at(-1)?.id ?? this.first;
  }
  since(seq: number, id: string): Edits {
    const known = seq === 0 ? this.first : this.edits[seq - 1]?.id;
    return { seq: this.seq, id: this.id, is_known: known === id, edits: this.edits.slice(seq) };
  }
  /** A failover that loses the edits after one: the numbers are used again. */
  lose(after: number): void {
    this.doc = this.docs[after] as Node;
    this.docs.length = after + 1;
    this.edits.length = after;
  }
  post(client: string, batch: Batch, author = "u"): { seq: number; id: string } {
    const before = this.edits.find(
      (one) => one.author_id === author && one.client === client && one.n === batch.n,
    );
    if (before) {
      assert.deepEqual(before.steps, batch.steps, "a number is used for one batch only");
      return before;
    }
    if (batch.base_seq !== this.seq || batch.base_id !== this.id)
      throw new ApiError(409, "behind", this.since(batch.base_seq, batch.base_id));
    for (const json of batch.steps) {
      const made = Step.fromJSON(schema, json).apply(this.doc).doc;
      assert.ok(made);
      made.check();
      this.doc = made;
    }
    this.docs.push(this.doc);
    const id = `e${(Server.made += 1)}`;
    const { n, steps, title = null } = batch;
    this.edits.push({ seq: this.seq + 1, id, client, n, steps, title, author_id: author, at: "" });
    return { seq: this.seq, id };
  }
}

export function outside(server: Server): SessionOutside {
  return {
    async send(_page, client, batch) {
      assert.ok(
        [...server.stored.values()].some((one) => one.sending?.batch.n === batch.n),
        "a batch is stored before it is sent",
      );
      const fault = server.fail.shift();
      if (fault === "before") throw new UnreachableError("x");
      if (fault === "refuse") throw new ApiError(403, "no right");
      const answer = server.post(client, JSON.parse(JSON.stringify(batch)));
      if (fault === "after") throw new UnreachableError("x");
      return answer;
    },
    since: async (_page, seq, id) => server.since(seq, id),
    live: async () => ({
      seq: server.seq,
      id: server.id,
      version: 1,
      title: "T",
      doc: docOf(server.doc),
    }),
    async keep(keeping) {
      const { draft, isSent, cut, fresh } = JSON.parse(JSON.stringify(keeping)) as Keeping;
      if (isSent) server.stored.delete(draft.client);
      else server.stored.set(draft.client, draft);
      if (isSent) server.remembered = draft;
      server.accepted = [
        ...server.accepted.filter((o) => cut === undefined || o.seq <= cut),
        ...fresh,
      ];
      server.doubts.push(...keeping.doubts);
      return true;
    },
    pause: () => new Promise((done) => setImmediate(done)),
    isGone: async () => true,
    changed: () => undefined,
  };
}

export const open = (server: Server, client: string): Session =>
  new Session(
    "p",
    "u",
    client,
    { seq: server.seq, id: server.id, title: server.title, doc: docOf(server.doc) },
    outside(server),
  );
export const type = (session: Session, at: number, typed: string): void => {
  for (const [by, one] of [...typed].entries())
    session.apply(session.state.tr.insertText(one, at + by));
};
export async function settled(...sessions: Session[]): Promise<void> {
  for (let round = 0; round < 500 && sessions.some((one) => !one.isSent); round++)
    await new Promise((done) => setImmediate(done));
  assert.ok(sessions.every((one) => one.isSent));
  await new Promise((done) => setImmediate(done));
}
