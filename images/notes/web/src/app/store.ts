/**
 * The data that the screens show: one signal for each resource, filled from the store of this
 * browser first, refreshed by the server and by events.
 */
import { computed, signal } from "@preact/signals";
import { ApiError, BUSY_MS, isBusy, request, UnreachableError } from "../api/client";
import { isCurrent, load } from "../api/signed_in";
import type { Me, PageNode, Reference, Site, Space, TreeNode } from "../api/types";
import { keepValue } from "../sync/database";
import { keepTree, readAll } from "../sync/kept_trees";
import {
  keepBaseSoon,
  keepPage,
  removePage,
  removeTree,
  shownOf,
  storedPage,
  storedPages,
  storedSpaces,
} from "../sync/offline";
import { prefer, preferences } from "./preferences";
import { route } from "./router";
import { pageOf } from "./routes";
import { makeTree, type Tree } from "./tree_model";
import { words } from "./words";

export type Phase = "starting" | "ready" | "signed out" | "nobody offline" | "not set up";

export interface Opened {
  id: string;
  node?: PageNode;
  /** The moment at which a stored copy was read; absent for what the server has just answered. */
  storedAt?: number;
  /** True of a page that came with the shell: it need not be read again. */
  isNew?: boolean;
  problem?: "missing" | "unreachable" | "failed";
  detail?: string;
}

/** A page that this browser has opened lately. */
export interface Last {
  id: string;
  title: string;
  space_id: string;
}

export const phase = signal<Phase>("starting");
export const isOnline = signal(navigator.onLine);
export const site = signal<Site>();
export const me = signal<Me>();
export const spaces = signal<Space[]>([]);
export const trees = signal<ReadonlyMap<string, Tree>>(new Map());
export const favourites = signal<Reference[]>([]);
export const recent = signal<Reference[]>([]);
export const opened = signal<Opened>();
export const keptSpaces = signal<ReadonlySet<string>>(new Set());
export const lastOpened = signal<Last[]>([]);
/** A sentence for everybody, also for screen readers. */
export const notice = signal("");

export const currentSpace = computed<Space | undefined>(() => {
  const shown = route.value;
  const page = opened.value;
  const wanted =
    shown.screen === "space" ||
    shown.screen === "trash" ||
    shown.screen === "manage" ||
    shown.screen === "import" ||
    (shown.screen === "export" && shown.from === "space")
      ? shown.id
      : page?.node && page.id === pageOf(shown)
        ? page.node.space_id
        : preferences.value.space;
  return spaces.value.find((space) => space.id === wanted) ?? spaces.value[0];
});
export const currentTree = computed(() => trees.value.get(currentSpace.value?.id ?? ""));
const favoured = computed(() => new Set(favourites.value.map((one) => one.id)));

/** True if the administration is shown: it is a part of the main site, for administrators. */
export const mayAdminister = computed(
  () => me.value?.is_admin === true && site.value?.space_id === null,
);

/** True if spaces can be created here: on the main site, not on a space's own domain. */
export const mayMakeSpace = computed(() => site.value?.space_id === null);

let reading = new AbortController();

export const userId = (): string => me.value?.id ?? "";

export async function readSpaces(): Promise<void> {
  const user = userId();
  const listed = await load<Space[]>("/api/v1/spaces", (answer) => {
    spaces.value = answer;
    // A first visit shows its page now: the page tree and the lists come beside it.
    if (answer.length) phase.value = "ready";
  });
  await keepValue("spaces", user, listed).catch(() => undefined);
  const first = currentSpace.value;
  if (first) await readTree(first.id);
  // Of a space that is not listed some pages may be readable: its tree answers that.
  const known = new Set(listed.map((space) => space.id));
  for (const id of trees.value.keys()) if (!known.has(id)) await readAnyTree(id);
  whenIdle(() => readStoredTrees(user, first?.id));
}

/** Reads the trees of all spaces of which something is stored: pages that were lost are removed. */
async function readStoredTrees(user: string, without: string | undefined): Promise<void> {
  const wanted = new Set([...keptSpaces.value, ...(await storedSpaces(user))]);
  for (const id of wanted) if (id !== without && userId() === user) await readAnyTree(id);
}

const readAnyTree = (id: string): Promise<void> => readTree(id).catch(() => undefined);

export async function readLists(): Promise<void> {
  const user = userId();
  const [starred, changed] = await Promise.all([
    load<Reference[]>("/api/v1/favourites", (answer) => {
      favourites.value = answer;
    }),
    load<Reference[]>("/api/v1/recent?limit=12", (answer) => {
      recent.value = answer;
    }),
  ]);
  await keepValue("favourites", user, starred).catch(() => undefined);
  await keepValue("recent", user, changed).catch(() => undefined);
  whenIdle(() => keepFavourites(starred, user));
}

async function keepFavourites(starred: Reference[], user: string): Promise<void> {
  const missing: string[] = [];
  for (const one of starred) {
    const stored = await storedPage(one.id, user);
    if (stored?.node.updated_at !== one.updated_at) missing.push(one.id);
  }
  await readAll(missing, user, favoured.value);
}

export function setTree(spaceId: string, nodes: TreeNode[]): void {
  trees.value = new Map(trees.value).set(spaceId, makeTree(nodes));
}

export async function readTree(spaceId: string): Promise<void> {
  const user = userId();
  const isSame = isCurrent();
  try {
    const nodes = await load<TreeNode[]>(`/api/v1/spaces/${spaceId}/tree`, (answer) => {
      setTree(spaceId, answer);
      const ids = new Set(answer.map((node) => node.id));
      forgetOpened((one) => one.space_id === spaceId && !ids.has(one.id));
    });
    whenIdle(() => keepTree(spaceId, nodes, user, favoured.value));
  } catch (error) {
    const isLost = error instanceof ApiError && [403, 404].includes(error.status);
    if (isLost && isSame()) await loseSpace(spaceId, user);
    throw error;
  }
}

/** Forgets a space that the user may not see any more, here and in the store. */
async function loseSpace(spaceId: string, user: string): Promise<void> {
  const rest = new Map(trees.value);
  if (rest.delete(spaceId)) trees.value = rest;
  forgetOpened((one) => one.space_id === spaceId);
  if (keptSpaces.value.has(spaceId)) await keepSpace(spaceId, false);
  await removeTree(spaceId);
  // Some of its pages may be shared with the user: those that are refused are removed.
  const stored = (await storedPages(user)).filter((one) => one.space_id === spaceId);
  await readAll(
    stored.map((one) => one.id),
    user,
    favoured.value,
  );
}

function forgetOpened(isGone: (one: { id: string; space_id: string }) => boolean): void {
  const rest = lastOpened.value.filter((one) => !isGone(one));
  if (rest.length === lastOpened.value.length) return;
  lastOpened.value = rest;
  void keepValue("last opened", userId(), rest);
}

/** Shows another space in the sidebar. */
export async function showSpace(spaceId: string): Promise<void> {
  prefer({ space: spaceId });
  if (!trees.value.has(spaceId)) await readAnyTree(spaceId);
}

/** Opens a page: the stored copy at once, then the server's. */
export async function openPage(id: string): Promise<void> {
  reading.abort();
  reading = new AbortController();
  const { signal: stop } = reading;
  const user = userId();
  const isSame = isCurrent();
  if (opened.value?.id !== id) opened.value = { id };
  const stored = opened.value?.node ? undefined : await storedPage(id, user);
  if (stop.aborted || !isSame()) return;
  if (stored) opened.value = { id, node: shownOf(stored), storedAt: stored.readAt };
  try {
    const show = (node: PageNode): void => {
      opened.value = { id, node };
      remember(node);
    };
    const given = opened.value?.isNew && opened.value.node;
    if (given) show(given);
    const node = given || (await load<PageNode>(`/api/v1/nodes/${id}`, show, { signal: stop }));
    if (!trees.value.has(node.space_id)) void readAnyTree(node.space_id);
    if (node.trashed_at) return;
    whenIdle(async () => {
      await keepPage(node, user, favoured.value);
      await keepBaseSoon(node, user);
    });
  } catch (error) {
    if (stop.aborted || !isSame()) return;
    if (error instanceof UnreachableError) {
      if (!opened.value?.node) opened.value = { id, problem: "unreachable" };
    } else if (error instanceof ApiError && [403, 404].includes(error.status)) {
      opened.value = { id, problem: "missing" };
      forgetOpened((one) => one.id === id);
      await removePage(id);
    } else if (opened.value?.node && isBusy(error)) {
      // What is shown stays, and its editor; it is read again.
      setTimeout(() => stop.aborted || !isSame() || openPage(id), BUSY_MS);
    } else if (!(error instanceof ApiError && error.status === 401)) {
      opened.value = { id, problem: "failed", detail: String(error) };
    }
  }
}

function remember(node: PageNode): void {
  prefer({ space: node.space_id });
  const others = lastOpened.value.filter((one) => one.id !== node.id);
  lastOpened.value = [{ id: node.id, title: node.title, space_id: node.space_id }, ...others].slice(
    0,
    12,
  );
  void keepValue("last opened", userId(), lastOpened.value);
}

/** Begins or ends to watch the open page. */
export async function toggleWatch(): Promise<void> {
  const before = opened.value;
  if (!before?.node) return;
  const isSame = isCurrent();
  const wanted = !before.node.is_watched;
  try {
    await request<void>(wanted ? "PUT" : "DELETE", `/api/v1/nodes/${before.id}/watch`);
    if (!isSame()) return;
    const now = opened.value;
    if (now?.node && now.id === before.id)
      opened.value = { ...now, node: { ...now.node, is_watched: wanted } };
    notice.value = wanted ? words.value.watched : words.value.unwatched;
  } catch (error) {
    if (isSame()) notice.value = error instanceof Error ? error.message : String(error);
  }
}

export async function keepSpace(spaceId: string, isKept: boolean): Promise<void> {
  const changed = new Set(keptSpaces.value);
  if (isKept) changed.add(spaceId);
  else changed.delete(spaceId);
  keptSpaces.value = changed;
  await keepValue("kept spaces", userId(), [...changed]);
  // Without this the browser may evict what it stores.
  if (isKept) await navigator.storage?.persist?.();
  if (isKept) await readAnyTree(spaceId);
}

/** Does storing work when the browser has nothing better to do; a failure only costs the copy. */
function whenIdle(work: () => Promise<void>): void {
  const run = (): void => {
    work().catch(() => undefined);
  };
  if ("requestIdleCallback" in window) requestIdleCallback(run, { timeout: 2000 });
  else setTimeout(run, 200);
}
