/**
 * Changes of the page tree that are shown at once, sent one after the other, and taken back if the server refuses.
 *
 * Invariant: a change is shown until a tree is there that was asked for after its answer, or until its refusal; then
 * the tree is the server's again. Whatever trees come meanwhile, the changes that are under way are done to the newest.
 */
import { effect, signal } from "@preact/signals";
import { ApiError, BUSY_MS } from "../api/client";
import { EndedError, isCurrent } from "../api/signed_in";
import { readTree, trees } from "./store";
import { type Change, changed } from "./tree_changes";
import { makeTree, type Tree } from "./tree_model";

interface UnderWay {
  change: Change;
  isSame: () => boolean;
}

const underWay = signal<readonly UnderWay[]>([]);
/** By which changes a tree was made. */
const drawnBy = new WeakMap<Tree, readonly UnderWay[]>();
let last: Promise<unknown> = Promise.resolve();
/** So many changes have no answer yet. */
let unanswered = 0;

// The trees come from the server, or from the store: what is under way is done to each new one.
effect(() => {
  const all = underWay.value;
  const changes = all.filter((one) => one.isSame()).map((one) => one.change);
  const next = new Map<string, Tree>();
  for (const [space, tree] of trees.value) {
    if (drawnBy.get(tree) === all) continue;
    const served = tree.served ?? tree.nodes;
    const nodes = changed(space, served, changes);
    if (nodes === tree.nodes) continue;
    const shown = nodes === served ? makeTree(served) : { ...makeTree(nodes), served };
    drawnBy.set(shown, all);
    next.set(space, shown);
  }
  if (next.size) trees.value = new Map([...trees.value, ...next]);
});

const end = (one: UnderWay): void => {
  underWay.value = underWay.value.filter((other) => other !== one);
};

/**
 * Shows a change at once, and sends it after those before it; returns the answer. Throws the refusal, after which the
 * tree is as the server has it.
 */
export async function change<T>(
  wanted: Change,
  spaces: readonly string[],
  send: () => Promise<T>,
): Promise<T> {
  const one: UnderWay = { change: wanted, isSame: isCurrent() };
  underWay.value = [...underWay.value, one];
  const turn = last.then(() => {
    if (!one.isSame()) throw new EndedError(wanted.kind);
    return send();
  });
  last = turn.catch(() => undefined);
  unanswered += 1;
  try {
    const answer = await turn;
    void settle(one, spaces);
    return answer;
  } catch (error) {
    end(one);
    // Others may have changed what it was about.
    if (one.isSame()) void read(spaces).catch(() => undefined);
    throw error;
  } finally {
    unanswered -= 1;
  }
}

// What waits behind another one is shown, and not sent yet.
addEventListener("beforeunload", (event) => {
  if (unanswered) event.preventDefault();
});

async function read(spaces: readonly string[]): Promise<void> {
  const shown = new Set(spaces.filter((id) => trees.value.has(id)));
  await Promise.all([...shown].map(readTree));
}

/** Reads the trees until they are there, and shows them as they are. */
async function settle(one: UnderWay, spaces: readonly string[]): Promise<void> {
  while (one.isSame()) {
    try {
      await read(spaces);
      break;
    } catch (error) {
      if (error instanceof EndedError) break;
      if (error instanceof ApiError && [403, 404].includes(error.status)) break;
      await new Promise((done) => setTimeout(done, BUSY_MS));
    }
  }
  end(one);
}

/**
 * Shows a title that an editor has given its page. `isTaken` after the server has taken it: then the page's next version
 * in the tree is what counts. Without a title, shows the one of the tree.
 */
export function showTitle(id: string, title: string | undefined, isTaken = false): void {
  const before = underWay.value.find(({ change: one }) => one.kind === "title" && one.id === id);
  const known = before?.change;
  if (!known && title === undefined) return;
  const rest = underWay.value.filter((one) => one !== before);
  if (title === undefined) {
    underWay.value = rest;
    return;
  }
  if (known?.kind === "title" && known.title === title && (known.since !== undefined) === isTaken)
    return;
  const nodes = [...trees.value.values()].map((tree) => tree.byId.get(id));
  const since = isTaken ? { since: nodes.find(Boolean)?.updated_at ?? "" } : {};
  underWay.value = [
    ...rest,
    { change: { kind: "title", id, title, ...since }, isSame: isCurrent() },
  ];
}
