/**
 * The service worker: it stores the shell and all assets of one build together, and answers
 * navigations to the workspace with the shell.
 *
 * Invariant: a build is used only when all of it is stored, and nothing but `/w` and `/assets/` is
 * ever answered from here; documents are in IndexedDB.
 */
export {};

declare const self: ServiceWorkerGlobalScope;
declare const BUILD: string;
declare const ASSETS: string[];

// The types of workers and of pages cannot be loaded together; these few are enough.
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface InstallEvent extends ExtendableEvent {
  addRoutes?(rules: { condition: object; source: "network" }[]): Promise<void>;
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface ServiceWorkerGlobalScope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(kind: "install", act: (event: InstallEvent) => void): void;
  addEventListener(kind: "activate", act: (event: ExtendableEvent) => void): void;
  addEventListener(kind: "fetch", act: (event: FetchEvent) => void): void;
  addEventListener(kind: "message", act: (event: MessageEvent) => void): void;
}

const SHELL = "/w";
const PREFIX = "notes-shell-";
const NAME = PREFIX + BUILD;
const ATTEMPTS = 5;
const PASSED = ["/api/*", "/readyz"];

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Stores one file; tries again, since during a rolling update a replica may not have it yet. */
async function store(cache: Cache, url: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await fetch(url, { cache: url === SHELL ? "no-cache" : "default" });
      const isOther = url === SHELL && answer.headers.get("x-notes-build") !== BUILD;
      if (!answer.ok || answer.redirected || isOther) {
        // Chromium lets an installing worker load three files at a time, and one that is not read counts.
        await answer.body?.cancel();
        throw new Error(isOther ? "the shell is of another build" : `${url}: ${answer.status}`);
      }
      await cache.put(url, answer);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await pause(400 * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}

async function install(): Promise<void> {
  try {
    const cache = await caches.open(NAME);
    await Promise.all([SHELL, ...ASSETS].map((url) => store(cache, url)));
  } catch (error) {
    await caches.delete(NAME);
    throw error;
  }
}

async function removeOthers(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== NAME) await caches.delete(name);
  }
  await self.clients.claim();
}

async function stored(key: string, request: Request): Promise<Response> {
  const own = await caches.match(key, { cacheName: NAME });
  // A page that an older build opened may still need its own chunks.
  return own ?? (await caches.match(key)) ?? fetch(request);
}

/**
 * Keeps this worker out of the requests that it never answers.
 *
 * Chromium stops the worker before to use the next one. Where a request of a page starts it again at that moment,
 * it goes on for up to five minutes, and the pages with it.
 */
function passBy(event: InstallEvent): Promise<void> | undefined {
  const condition = { or: PASSED.map((pathname) => ({ urlPattern: { pathname } })) };
  return event.addRoutes?.([{ condition, source: "network" }]);
}

self.addEventListener("install", (event) => {
  event.waitUntil(install());
  // A browser that knows no such rules, or not these, does without.
  passBy(event)?.catch(() => undefined);
});
self.addEventListener("activate", (event) => event.waitUntil(removeOthers()));
self.addEventListener("message", (event) => {
  if (event.data === "use this build") void self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  const isWorkspace = url.pathname === SHELL || url.pathname.startsWith(`${SHELL}/`);
  if (request.mode === "navigate" && isWorkspace) event.respondWith(stored(SHELL, request));
  else if (url.pathname.startsWith("/assets/")) event.respondWith(stored(url.pathname, request));
});
