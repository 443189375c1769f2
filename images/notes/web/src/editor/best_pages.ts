/** Chooses the pages that are offered behind `@`. Decides from the titles alone. */
import { candidate, match } from "../app/match";

export const MOST_PAGES = 6;

export interface Titled {
  id: string;
  title: string;
  space_id: string;
}

/** The best of the pages for what is typed, without the page itself; the first ones if nothing is typed. */
export function bestPages(pages: readonly Titled[], page: string, typed: string): Titled[] {
  const others = pages.filter((one) => one.id !== page && one.title.trim());
  if (!typed.trim()) return others.slice(0, MOST_PAGES);
  const byId = new Map(others.map((one) => [one.id, one]));
  const texts = others.map((one) => candidate(one.id, one.title));
  return match(texts, typed, MOST_PAGES).flatMap(({ id }) => byId.get(id) ?? []);
}

/** Entries that were shown, then those of `more` that are new: nothing moves below a finger or a key. */
export const appended = <T extends { id: string }>(
  shown: readonly T[],
  more: readonly T[],
): T[] => [...shown, ...more.filter((one) => !shown.some((other) => other.id === one.id))];
