/** Runs the command of a key, and shows keys as people read them. */
import { dialog, openComments, possible } from "./commands";
import { nextRegion } from "./layout";
import { preferences } from "./preferences";
import { words } from "./words";

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The key as people read it. */
export const keyName = (key: string): string =>
  key
    .replace("Mod+", isMac ? "⌘" : `${words.value.ctrl} `)
    .replace("Alt+", isMac ? "⌥" : "Alt ")
    .replace("Shift+", isMac ? "⇧" : "⇧ ")
    // A single letter, not that of a name such as "Tab".
    .replace(
      /([^a-z]?)(?<![a-z])([a-z])$/i,
      (_, before: string, letter: string) => `${before.trim()} ${letter.toUpperCase()}`,
    )
    .trim();

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Runs the command of a key; single letters only outside of fields, and if they are on. */
export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const isMod = isMac ? event.metaKey : event.ctrlKey;
  if (isMod && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    dialog.value = dialog.value === "palette" ? "" : "palette";
    return;
  }
  // On many keyboards AltGr is Ctrl and Alt, and AltGr+M a letter.
  const isAltGr = event.getModifierState("AltGraph");
  if (isMod && event.altKey && !isAltGr && event.code === "KeyM" && !dialog.value) {
    event.preventDefault();
    openComments();
    return;
  }
  if (dialog.value || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "F6") {
    event.preventDefault();
    nextRegion(event.shiftKey ? -1 : 1);
    return;
  }
  if (isTyping(event.target) || !preferences.value.singleKeys || event.key.length !== 1) return;
  // In the tree, letters go to the page that begins with them.
  if (
    event.target instanceof Element &&
    event.target.closest("[role=tree]") &&
    /\p{L}/u.test(event.key)
  )
    return;
  const found = possible().find((one) => one.key === event.key);
  if (!found) return;
  event.preventDefault();
  found.run();
}
