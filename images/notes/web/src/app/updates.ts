/** Registers the service worker, and offers a new version without disturbing anyone. */
import { signal } from "@preact/signals";

const WORKER = "/sw.js";
const IDLE_MS = 10 * 60_000;
const CHECK_MS = 60 * 60_000;
const USED = "notes-used";

interface TrustedPolicy {
  createScriptURL(url: string): string;
}
interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedPolicy;
}

/** True while a new version waits to be used. */
export const hasUpdate = signal(false);
let registered: ServiceWorkerRegistration | undefined;
let isBehind = false;

/** The worker's address, as the policy `notes` lets it through: this address and no other. */
function workerUrl(): string {
  const factory = (window as unknown as { trustedTypes?: PolicyFactory }).trustedTypes;
  const createScriptURL = (url: string): string => {
    if (url !== WORKER) throw new TypeError(`not the service worker: ${url}`);
    return url;
  };
  return factory
    ? factory.createPolicy("notes", { createScriptURL }).createScriptURL(WORKER)
    : WORKER;
}

export async function startUpdates(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  let had = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (had) location.reload();
    // The first worker of a browser takes over what is open, and is of the same build.
    had = true;
  });
  const found = await navigator.serviceWorker.register(workerUrl(), {
    scope: "/w",
    updateViaCache: "none",
  });
  registered = found;
  const look = (): void => {
    const waits = found.waiting !== null && navigator.serviceWorker.controller !== null;
    hasUpdate.value = waits || isBehind;
  };
  // A new version may be on its way already, begun by another tab.
  const watch = (): void => found.installing?.addEventListener("statechange", look);
  look();
  watch();
  found.addEventListener("updatefound", watch);
  setInterval(() => void found.update().catch(() => undefined), CHECK_MS);
  hearUses();
  setInterval(() => {
    look();
    if (hasUpdate.value && Date.now() - Number(localStorage.getItem(USED) ?? 0) > IDLE_MS)
      useUpdate();
  }, 60_000);
}

function hearUses(): void {
  for (const kind of ["keydown", "pointerdown", "scroll"]) {
    addEventListener(kind, noteUse, { passive: true, capture: true });
  }
  noteUse();
}

let noted = 0;

/** Stores when a tab of the application was used last, for all tabs: by a person, or by a file on its way. */
export function noteUse(): void {
  if (Date.now() - noted < 30_000) return;
  noted = Date.now();
  localStorage.setItem(USED, String(noted));
}

/**
 * Offers the new version to a tab that did not get one of its scripts, if the server has another build.
 *
 * Without a service worker nothing has stored the scripts of a build, and the server has those of its own alone.
 */
export async function noScript(): Promise<void> {
  const own = document.querySelector("script[type=module]")?.getAttribute("src");
  const answer = await fetch("/w", { cache: "no-cache" }).catch(() => undefined);
  if (!own || !answer?.ok || (await answer.text()).includes(own)) return;
  isBehind = true;
  hasUpdate.value = true;
}

/** Uses the new version: every tab loads again. */
export function useUpdate(): void {
  if (registered?.waiting) registered.waiting.postMessage("use this build");
  else location.reload();
}
