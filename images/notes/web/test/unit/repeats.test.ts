import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, UnreachableError } from "../../src/api/client";
import { MOST_OF_ONE, tooLarge } from "../../src/sync/accepted_files";
import { ownId } from "../../src/sync/own_id";
import { joined, repeat, type Repeating, sorted, WAITING } from "../../src/sync/repeats";
import type { KeptRequest } from "../../src/sync/stored";

interface Row {
  id: string;
  parent: string | undefined;
  body: string;
  edited: string | null;
  state: string | null;
  isResolved: boolean;
}

/** The comments of a page at a server, as strict as the real one about keys, bases and what was deleted. */
class Server implements Repeating {
  rows = new Map<string, Row>();
  pages = new Set<string>();
  done = new Set<string>();
  removed = new Set<string>();
  kept = new Map<string, KeptRequest>();
  sent: string[] = [];
  refusal: Error | undefined;
  answered = "answered since";
  #clock = 0;
  #before = { rows: new Map<string, Row>(), done: new Set<string>(), removed: new Set<string>() };

  /** What a failover goes back to. */
  save(): void {
    const { rows, done, removed } = this;
    this.#before = structuredClone({ rows, done, removed });
  }
  lose(): void {
    Object.assign(this, structuredClone(this.#before));
  }
  /** A person's request, accepted and stored in the browser. */
  async accept(key: string, given: Partial<KeptRequest>): Promise<void> {
    const made = { key, user: "u", page: "p", title: "P", at: 0, kind: "post", id: key, doubt: "" };
    const next = joined([...this.kept.values()], { ...made, ...given } as KeptRequest);
    await this.send(next.made);
    for (const one of next.replaced) this.kept.delete(one);
    this.kept.set(key, next.made);
    this.sent = [];
  }
  /** The store gives them in the order of their keys, which is by chance. */
  repeat = (now = 1): Promise<boolean> => repeat([...this.kept.values()].reverse(), this, now);

  known = async (keys: string[]) => keys.filter((key) => this.done.has(key));
  answers = async ({ id }: KeptRequest) =>
    [...this.rows.values()].filter((row) => row.parent === id).map((row) => row.id);
  keep = async (one: KeptRequest) => this.kept.set(one.key, one);
  forget = async (key: string) => this.kept.delete(key);

  async send(one: KeptRequest): Promise<void> {
    if (this.refusal) throw this.refusal;
    this.sent.push(one.key);
    if (this.done.has(one.key)) return;
    const row = this.rows.get(one.id);
    if (one.kind === "favourite") return;
    if (one.kind === "page") {
      if (one.made?.parent && !this.pages.has(one.made.parent)) throw new ApiError(404, "no page");
      this.pages.add(one.id);
    } else if (one.kind === "post") {
      if (this.removed.has(one.id) || this.removed.has(one.parent ?? "")) throw gone;
      if (one.parent && !this.rows.has(one.parent)) throw new ApiError(422, "no thread");
      const { id, parent, body = "" } = one;
      this.rows.set(id, { id, parent, body, edited: null, state: null, isResolved: false });
    } else if (one.kind === "delete") {
      for (const { id } of this.rows.values())
        if (id === one.id || this.rows.get(id)?.parent === one.id) this.rows.delete(id);
      this.removed.add(one.id);
    } else if (!row) throw this.removed.has(one.id) ? gone : new ApiError(404, "not there");
    else this.#change(row, one);
    this.done.add(one.key);
  }
  #change(row: Row, { body, resolved, bases }: KeptRequest): void {
    const base = body === undefined ? row.state : row.edited;
    const isSame = body === undefined ? row.isResolved === resolved : row.body === body;
    if (bases && !bases.includes(base) && !isSame) throw new ApiError(409, "changed meanwhile");
    const at = `t${(this.#clock += 1)}`;
    if (body !== undefined) Object.assign(row, { body, edited: at });
    else Object.assign(row, { isResolved: resolved, state: at });
  }
  get bodies(): string[] {
    return [...this.rows.values()].map((row) => row.body);
  }
  get doubts(): string[] {
    return [...this.kept.values()].map((one) => one.doubt).filter(Boolean);
  }
}
const gone = new ApiError(410, "deleted since");

test("comments, answers and changes that a failover has lost are sent again, in their order, once", async () => {
  const server = new Server();
  await server.accept("old", { body: "old" });
  server.save();
  await server.accept("thread", { body: "a thread" });
  await server.accept("answer", { body: "an answer", parent: "thread" });
  await server.accept("e1", { kind: "edit", id: "thread", body: "a better", bases: [null] });
  const { edited } = server.rows.get("thread") as Row;
  await server.accept("e2", { kind: "edit", id: "thread", body: "the best", bases: [edited] });
  await server.accept("r", { kind: "resolve", id: "old", resolved: true, bases: [null] });
  server.lose();
  assert.deepEqual(server.bodies, ["old"]);
  for (const round of [1, 2]) {
    assert.equal(await server.repeat(), round === 1);
    assert.deepEqual(server.bodies, ["old", "the best", "an answer"]);
    assert.equal(server.rows.get("old")?.isResolved, true);
    assert.deepEqual(server.doubts, []);
  }
  assert.deepEqual(server.sent, ["thread", "answer", "e2", "r"]);
  // A second failover, back to the same state.
  server.lose();
  await server.repeat();
  assert.deepEqual(server.bodies, ["old", "the best", "an answer"]);
});

test("pages that were made without a network are made once, each after the one above it", async () => {
  const server = new Server();
  const wait = (key: string, at: number, parent: string | null): void => {
    const made = { space: "s", parent, is_template: false, doc: null, template: "" };
    const one = { key, user: "u", page: key, title: key, at, id: key, made };
    server.kept.set(key, { ...one, kind: "page", doubt: WAITING });
  };
  // The store has them in the order of their keys.
  wait("top", 1, null);
  wait("under", 2, "top");
  wait("orphan", 3, "gone");
  const ages = sorted([...server.kept.values()], Date.now());
  assert.equal(ages.young.length, 3, "what was never sent is not too old");
  assert.deepEqual([ages.old, ages.doubtful], [[], []]);
  assert.equal(await server.repeat(), true);
  assert.deepEqual([...server.pages], ["top", "under"]);
  assert.deepEqual(server.doubts, ["no page"]);
  assert.equal(sorted([...server.kept.values()], 0).doubtful.length, 1);
  server.sent = [];
  // The answer to the first request got lost.
  wait("top", 1, null);
  await server.repeat();
  assert.deepEqual(server.sent, ["orphan"]);
  assert.equal(server.kept.get("top")?.doubt, "");
});

test("what is wanted of a favourite comes after the page that it is about", async () => {
  const server = new Server();
  const wait = { user: "u", title: "P", page: "p", id: "p", doubt: WAITING };
  const made = { space: "s", parent: null, is_template: false, doc: null, template: "" };
  server.kept.set("f", { ...wait, key: "f", at: 1, kind: "favourite", resolved: true });
  server.kept.set("p", { ...wait, key: "p", at: 2, kind: "page", made });
  await server.repeat();
  assert.deepEqual(server.sent, ["p", "f"]);
});

test("the id of a page is the one that the server decides", async () => {
  const user = "4f0f9a3e-6c58-4d0e-8f4e-1c1b4c7d9a10";
  assert.equal(
    await ownId(user, "11111111-2222-4333-8444-555555555555"),
    "11111111-2222-8333-8478-f3b71e60f196",
  );
});

test("what somebody has deleted since does not come back", async () => {
  const server = new Server();
  await server.accept("thread", { body: "a thread" });
  server.save();
  await server.accept("answer", { body: "an answer", parent: "thread" });
  await server.accept("e", { kind: "edit", id: "thread", body: "changed", bases: [null] });
  server.lose();
  await server.send({ ...(server.kept.get("thread") as KeptRequest), kind: "delete", key: "d" });
  await server.repeat();
  assert.deepEqual([server.bodies, server.doubts], [[], []]);
  assert.deepEqual([...server.kept.keys()], ["thread"], "the thread is known: it was deleted");
});

test("a deletion that was lost is done again, unless somebody has answered since", async () => {
  for (const isAnswered of [false, true]) {
    const server = new Server();
    await server.accept("thread", { body: "a thread" });
    await server.accept("answer", { body: "an answer", parent: "thread" });
    server.save();
    await server.accept("d", { kind: "delete", id: "thread", answers: ["answer"] });
    assert.deepEqual([...server.kept.keys()], ["d"], "what is deleted is not sent again");
    server.lose();
    const late = { ...(server.kept.get("d") as KeptRequest), kind: "post", key: "l", id: "l" };
    if (isAnswered) await server.send({ ...late, body: "late", parent: "thread" } as KeptRequest);
    await server.repeat();
    assert.deepEqual(server.bodies, isAnswered ? ["a thread", "an answer", "late"] : []);
    assert.deepEqual(server.doubts, isAnswered ? ["answered since"] : []);
  }
});

test("a change of what somebody else has changed since is a doubtful place", async () => {
  const server = new Server();
  await server.accept("thread", { body: "a thread" });
  server.save();
  await server.accept("r", { kind: "resolve", id: "thread", resolved: true, bases: [null] });
  server.lose();
  const row = server.rows.get("thread") as Row;
  Object.assign(row, { state: "theirs" });
  await server.repeat();
  assert.deepEqual([row.isResolved, server.doubts], [false, ["changed meanwhile"]]);
});

test("an answer whose thread is lost waits as a doubtful place, and is sent when it is back", async () => {
  const server = new Server();
  await server.accept("answer", { body: "an answer" });
  Object.assign(server.kept.get("answer") as KeptRequest, { parent: "theirs" });
  server.lose();
  await server.repeat();
  assert.deepEqual([server.bodies, server.doubts], [[], ["no thread"]]);
  const theirs = { ...(server.kept.get("answer") as KeptRequest), key: "theirs", id: "theirs" };
  delete theirs.parent;
  await server.send({ ...theirs, body: "theirs" });
  await server.repeat();
  assert.deepEqual([server.bodies, server.doubts], [["theirs", "an answer"], []]);
});

test("without access it is a doubtful place, without a network it waits, and nothing is forgotten", async () => {
  const server = new Server();
  await server.accept("thread", { body: "a thread" });
  server.lose();
  for (const one of [new UnreachableError("p"), new ApiError(401, "x"), new ApiError(500, "x")]) {
    server.refusal = one;
    await assert.rejects(server.repeat());
    assert.deepEqual([server.kept.size, server.doubts], [1, []]);
  }
  server.refusal = new ApiError(404, "no such page");
  await server.repeat();
  assert.deepEqual([server.kept.size, server.doubts], [1, ["no such page"]]);
});

test("accepted files are kept up to a size of one and of all, the newest first", () => {
  const file = (key: string, at: number, size: number) =>
    ({ key, at, size, kind: "file" }) as KeptRequest;
  const mb = 1024 * 1024;
  const found = [1, 2, 3, 4, 5].map((at) => file(`f${at}`, at, 60 * mb));
  const other = { ...file("c", 0, 0), kind: "post" as const };
  assert.deepEqual(tooLarge([...found, other, file("large", 9, MOST_OF_ONE + 1)]), ["large", "f1"]);
});

test("a request is sent again for a day; a doubtful one waits for its person", () => {
  const one = (key: string, at: number, doubt: string) => ({ key, at, doubt }) as KeptRequest;
  const found = sorted([one("new", 10, ""), one("old", 4, ""), one("doubt", 4, "why")], 5);
  const keys = (list: KeptRequest[]) => list.map(({ key }) => key).join();
  assert.deepEqual(
    [keys(found.young), keys(found.doubtful), keys(found.old)],
    ["new", "doubt", "old"],
  );
});

test("words that were never sent are their person's, whose thread or comment is gone", async () => {
  const server = new Server();
  await server.accept("thread", {});
  await server.accept("own", { parent: "thread" });
  const wait = { user: "u", title: "P", page: "p", at: 1, doubt: WAITING };
  const answer: KeptRequest = { ...wait, key: "k1", kind: "post", id: "k1", parent: "thread", body: "an answer" }; // prettier-ignore
  const change: KeptRequest = { ...wait, key: "k2", kind: "edit", id: "own", body: "changed" };
  const mark: KeptRequest = { ...wait, key: "k3", kind: "resolve", id: "thread", resolved: true };
  server.kept.clear();
  for (const one of [answer, change, mark]) server.kept.set(one.key, one);
  for (const id of ["thread", "own"]) {
    server.rows.delete(id);
    server.removed.add(id);
  }
  await server.repeat();
  const left = [...server.kept.values()];
  assert.deepEqual(left.map((one) => one.body), ["an answer", "changed"]); // prettier-ignore
  assert.ok(
    left.every((one) => one.doubt !== "" && one.doubt !== WAITING),
    "they are listed",
  );
});
