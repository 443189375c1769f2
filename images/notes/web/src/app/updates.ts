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
  const had = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (had) location.reload();
  });
  const found = await navigator.serviceWorker.register(workerUrl(), {
    scope: "/w",
    updateViaCache: "none",
  });
  registered = found;
  const look = (): void => {
    hasUpdate.value = found.waiting !== null && navigator.serviceWorker.controller !== null;
  };
  look();
  found.addEventListener("updatefound", () =>
    found.installing?.addEventListener("statechange", look),
  );
  setInterval(() => void found.update().catch(() => undefined), CHECK_MS);
  noteUse();
  setInterval(() => {
    look();
    if (hasUpdate.value && Date.now() - Number(localStorage.getItem(USED) ?? 0) > IDLE_MS)
      useUpdate();
  }, 60_000);
}

/** Stores when a tab of the application was used last, for all tabs. */
function noteUse(): void {
  let last = 0;
  const note = (): void => {
    if (Date.now() - last < 30_000) return;
    last = Date.now();
    localStorage.setItem(USED, String(last));
  };
  for (const kind of ["keydown", "pointerdown", "scroll"]) {
    addEventListener(kind, note, { passive: true, capture: true });
  }
  note();
}

/** Uses the new version: every tab loads again. */
export function useUpdate(): void {
  registered?.waiting?.postMessage("use this build");
}
