/** Goes to addresses over the History API, moves the focus to the heading, restores the scroll. */
import { signal } from "@preact/signals";
import { firstView } from "./first_view";
import { inWorkspace, type Route, routeOf } from "./routes";

export const route = signal<Route>(routeOf(location.pathname, location.search));
/** The place that is stored with the address that is shown; the top of one that was never left. */
const placeOf = (): number => Number(history.state?.scroll ?? 0);
/** Counts the visits; a screen that is shown again, also after a reload, restores its place. */
export const visit = signal({ number: 0, scroll: placeOf(), hash: location.hash });

let number = 0;
/** The visit whose screen was drawn last: until then what is seen is not its place. */
let arrived = -1;
/** A browser takes about three changes of its history a second. */
const REMEMBER_MS = 500;
let remembering: ReturnType<typeof setTimeout> | undefined;

const region = (): HTMLElement | null => document.getElementById("main");

function remember(): void {
  if (arrived !== number) return;
  history.replaceState({ ...history.state, scroll: region()?.scrollTop ?? 0 }, "");
}

function show(scroll: number): void {
  number += 1;
  const before = JSON.stringify(route.value);
  route.value = routeOf(location.pathname, location.search);
  // The same screen stays as it is drawn.
  if (JSON.stringify(route.value) === before) arrived = number;
  visit.value = { number, scroll, hash: location.hash };
}

/** Does so while one scrolls: "back" tells of it when the entry has changed, and Chromium takes nothing at a reload. */
function rememberSoon(event: Event): void {
  if (event.target !== region()) return;
  remembering ??= setTimeout(() => {
    remembering = undefined;
    remember();
  }, REMEMBER_MS);
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
  const drawn = region();
  if (drawn && !drawn.scrollTop) drawn.scrollTop = placeOf();
  addEventListener("popstate", () => show(placeOf()));
  document.addEventListener("scroll", rememberSoon, { capture: true, passive: true });
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

/** True if a visit begins at the top of its page, nobody has scrolled there yet, and the server has drawn nothing. */
export const isAtTop = (): boolean =>
  !visit.value.hash && visit.value.scroll === 0 && !region()?.scrollTop && !firstView();

/** After a screen is drawn: its anchor or its former place, and the focus on its heading. */
export function arrive(): void {
  const { scroll, hash, number: visits } = visit.value;
  const main = region();
  if (!main) return;
  arrived = visits;
  if (hash && scroll === 0 && scrollToAnchor(hash)) return;
  // Somebody may have scrolled already in what the server has drawn.
  if (visits > 0 || !main.scrollTop) main.scrollTop = scroll;
  if (visits > 0) document.getElementById("title")?.focus({ preventScroll: true });
}
