/** What another application of the device has shared with this one (the manifest's share target). */
import { signal } from "@preact/signals";
import { dialog } from "./commands";

/** Waits to become a page. */
export const shared = signal<{ title: string; text: string }>();

/** Takes what was shared out of the address, and asks where it is to go. */
export function takeShared(): void {
  const given = new URLSearchParams(location.search);
  const [title, text, url] = ["title", "text", "url"].map((name) => given.get(name)?.trim() ?? "");
  if (location.pathname !== "/w") return;
  dialog.value = "new page";
  history.replaceState(history.state, "", "/w");
  if (!(title || text || url)) return;
  // Many applications put the address into the text.
  const isSaid = !url || text?.includes(url);
  shared.value = { title: title ?? "", text: isSaid ? (text ?? "") : `${text}\n\n${url}`.trim() };
}
