/** The regions of the window: its sidebar, which is a drawer on a narrow screen, and the others. */
import { signal } from "@preact/signals";
import { prefer, preferences } from "./preferences";

/** True while the sidebar covers the page on a narrow screen. */
export const isDrawerOpen = signal(false);
const narrow = matchMedia("(max-width: 800px)");
export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
  isDrawerOpen.value = false;
});

const wide = matchMedia("(min-width: 1200px)");
/** True if there is room for the contents of a page beside its text. */
export const isWide = signal(wide.matches);
wide.addEventListener("change", () => {
  isWide.value = wide.matches;
});

export function toggleSidebar(): void {
  if (isNarrow.value) isDrawerOpen.value = !isDrawerOpen.value;
  else prefer({ sidebar: !preferences.value.sidebar });
}

const REGIONS = ["sidebar", "topbar", "main", "beside"];

/** Moves the focus to the next or the previous region of the window. */
export function nextRegion(step: number): void {
  // Not a heading of the text that has such a name.
  const found = REGIONS.map((id) => document.querySelector<HTMLElement>(`#${id}:not(.prose *)`));
  const regions = found.filter(
    (one): one is HTMLElement =>
      one !== null && !one.closest("[inert]") && one.offsetParent !== null,
  );
  const at = regions.findIndex((one) => one.contains(document.activeElement));
  const next = regions[(at + step + regions.length) % regions.length];
  const first = next?.querySelector<HTMLElement>("[data-first], [tabindex='0'], a, button, input");
  (first ?? next)?.focus();
}
