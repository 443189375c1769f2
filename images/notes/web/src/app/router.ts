/** Goes to addresses over the History API, moves the focus to the heading, restores the scroll. */
import { signal } from "@preact/signals";
import { inWorkspace, type Route, routeOf } from "./routes";

export const route = signal<Route>(routeOf(location.pathname, location.search));
/** Counts the visits; a screen that is shown again after "back" restores its place. */
export const visit = signal({ number: 0, scroll: 0, hash: location.hash });

let number = 0;

const region = (): HTMLElement | null => document.getElementById("main");

function remember(): void {
  history.replaceState({ ...history.state, scroll: region()?.scrollTop ?? 0 }, "");
}

function show(scroll: number): void {
  number += 1;
  route.value = routeOf(location.pathname, location.search);
  visit.value = { number, scroll, hash: location.hash };
}

/** Shows the address; `isReplacing` without a new entry in the history. */
export function go(path: string, isReplacing = false): void {
  remember();
  if (isReplacing) history.replaceState({}, "", path);
  else history.pushState({}, "", path);
  show(0);
}

export function startRouter(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => show(Number(history.state?.scroll ?? 0)));
  addEventListener("pagehide", remember);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download"))
      return;
    const raw = link.getAttribute("href") ?? "";
    if (raw.startsWith("#")) {
      event.preventDefault();
      history.replaceState(history.state, "", raw);
      scrollToAnchor(raw);
      return;
    }
    const path = inWorkspace(new URL(link.href), location.origin);
    if (path === undefined) return;
    event.preventDefault();
    go(path);
  });
}

/** The element of an anchor: a heading of the text may have the name of a part of the workspace. */
export function anchored(id: string): HTMLElement | null {
  const inText = [...document.querySelectorAll<HTMLElement>(".prose [id]")];
  return inText.find((one) => one.id === id) ?? document.getElementById(id);
}

/** Scrolls to the element of a hash and focuses it; false if there is none. */
export function scrollToAnchor(hash: string): boolean {
  let id = hash.slice(1);
  try {
    id = decodeURIComponent(id);
  } catch {
    // The hash is used as it is.
  }
  const found = id ? anchored(id) : null;
  if (!found) return false;
  if (!found.hasAttribute("tabindex")) found.tabIndex = -1;
  found.scrollIntoView({ block: "start" });
  found.focus({ preventScroll: true });
  return true;
}

/** True if a visit begins at the top of its page, and nobody has scrolled there yet. */
export const isAtTop = (): boolean =>
  !visit.value.hash && visit.value.scroll === 0 && !region()?.scrollTop;

/** After a screen is drawn: its anchor or its former place, and the focus on its heading. */
export function arrive(): void {
  const { scroll, hash, number: visits } = visit.value;
  const main = region();
  if (!main) return;
  if (hash && scroll === 0 && scrollToAnchor(hash)) return;
  main.scrollTop = scroll;
  if (visits > 0) document.getElementById("title")?.focus({ preventScroll: true });
}
