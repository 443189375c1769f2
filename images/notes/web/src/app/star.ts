/** The command for favourites; what it does is in a part of its own (`favourite.ts`). */
import { opened } from "./store";

/** Adds the open page to the favourites or removes it. */
export async function toggleFavourite(): Promise<void> {
  if (opened.value) await (await import("./favourite")).toggle(opened.value);
}
