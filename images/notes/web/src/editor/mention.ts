/**
 * The list behind `@`: the people who may read the page, and pages to link to.
 *
 * A mention is a link to `mention:<id>`, whose text is the name; a page is a link to `/p/<id>`, whose text is the
 * title. Pages are found by the titles that this browser has, so also without a network.
 */
import { load } from "../api/signed_in";
import type { Hit, Person } from "../api/types";
import { findPeople } from "../app/mentionable";
import { lastOpened, recent, spaces, trees } from "../app/store";
import { signOf } from "../screens/beside/mentions";
import { appended, bestPages, MOST_PAGES, type Titled } from "./best_pages";
import { type Entry, Offer, type Seek } from "./offer";
import { schema } from "./schema";

const MOST_TYPED = 40;
/** So long the people are waited for, who stand above the pages. */
const PATIENCE_MS = 500;

export interface Named extends Entry {
  kind: "person" | "page";
}

export const mention = new Offer<Named>({
  sign: "@",
  list: "mentionable",
  isTyped: (text) =>
    /^@(?!\s)[^\n@]*$/.test(text) && text.length <= MOST_TYPED && !/\s\s/.test(text),
  take(tr, from, to, { kind, id, name }) {
    const { link } = schema.marks;
    if (!link) return;
    const marks = tr.selection.$from.marks().filter((one) => one.type !== link);
    const [text, href] = kind === "page" ? [name, `/p/${id}`] : [signOf(name), `mention:${id}`];
    const linked = schema.text(text, link.create({ href }).addToSet(marks));
    tr.replaceWith(from, to, [linked, schema.text(" ", marks)]);
  },
});

const personOf = ({ id, name }: Person): Named => ({ kind: "person", id, name });

function pageOf({ id, title, space_id }: Titled): Named {
  const aside = spaces.value.find((one) => one.id === space_id)?.name ?? "";
  return { kind: "page", id, name: title, aside, icon: "page" };
}

/** The pages whose titles are known here, each once; those that were opened last come first. */
function known(): Titled[] {
  const found = new Map<string, Titled>();
  for (const one of [...lastOpened.value, ...recent.value]) found.set(one.id, one);
  for (const [space_id, tree] of trees.value)
    for (const { id, title } of tree.nodes) found.set(id, { id, title, space_id });
  return [...found.values()];
}

let stopping = new AbortController();

/** The pages of other spaces, by the server. */
function seekPages(page: string, typed: string, show: (found: Named[]) => void): void {
  stopping.abort();
  stopping = new AbortController();
  const { signal } = stopping;
  if (!typed.trim()) return;
  const path = `/api/v1/search?limit=${2 * MOST_PAGES}&q=${encodeURIComponent(typed.trim())}`;
  const isTitle = (hit: Hit): boolean => hit.title.some((piece) => piece.hit);
  load<Hit[]>(
    path,
    (hits) => {
      const found = hits.filter((hit) => isTitle(hit) && hit.id !== page).slice(0, MOST_PAGES);
      const titled = found.map(({ id, space_id, title }) => {
        return { id, space_id, title: title.map((piece) => piece.text).join("") };
      });
      show(titled.map(pageOf));
    },
    { signal },
  ).catch(() => undefined);
}

/** Finds people and pages for a page: people first if the server answers soon, else below what is shown. */
export const named =
  (page: string): Seek<Named> =>
  (typed, show) => {
    const here = bestPages(known(), page, typed).map(pageOf);
    let shown: Named[] | undefined;
    const add = (more: Named[]): void => {
      shown = shown ? appended(shown, more) : appended(more, here);
      show(shown);
    };
    const waiting = setTimeout(() => add([]), PATIENCE_MS);
    // Without a network, or after too many lookups, it answers with nobody.
    findPeople(page, typed, (people) => {
      clearTimeout(waiting);
      add(people.map(personOf));
      seekPages(page, typed, add);
    });
  };
