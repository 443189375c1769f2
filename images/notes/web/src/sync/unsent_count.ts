/** How much of each person is not sent: for the plain pages, and for the bar above all screens. */
import { signal } from "@preact/signals";
import { database } from "./database";
import { WAITING } from "./stored";

const NOTE_MS = 500;
/** What is sent sooner is on its way, and nobody has to know of it. */
const TOLD_MS = 3000;
let noting: ReturnType<typeof setTimeout> | undefined;
let again: ReturnType<typeof setTimeout> | undefined;
/** When each page was first seen with something that is not sent. */
let since = new Map<string, number>();

/** The titles of the pages of each person that have something which is not sent for a while. */
export const unsent = signal<ReadonlyMap<string, ReadonlyMap<string, string>>>(new Map());

/** Tells the plain pages, which see a cookie only, how many edits and files of each person are not sent. */
export function noteUnsent(): void {
  noting ??= setTimeout(() => {
    noting = undefined;
    void note();
  }, NOTE_MS);
}

async function note(): Promise<void> {
  const db = await database();
  const counts = new Map<string, number>();
  const [seen, told, now] = [
    new Map<string, number>(),
    new Map<string, Map<string, string>>(),
    Date.now(),
  ];
  for (const name of ["drafts", "uploads", "doubts", "requests"] as const)
    for (const one of (await db?.getAll(name)) ?? []) {
      // Such a request is remembered only.
      if ("kind" in one && !one.doubt) continue;
      counts.set(one.user, (counts.get(one.user) ?? 0) + 1);
      // A list above all screens has those that their person has to decide about.
      const isDecided =
        "mine" in one || ("lost" in one && one.lost) || ("doubt" in one && one.doubt !== WAITING);
      if (isDecided || ("kind" in one && one.kind === "favourite")) continue;
      const key = `${one.user} ${one.page}`;
      const first = since.get(key) ?? now;
      seen.set(key, first);
      if (now - first < TOLD_MS) continue;
      const pages = told.get(one.user) ?? new Map<string, string>();
      told.set(one.user, pages);
      const title = "name" in one ? one.name : ("newTitle" in one && one.newTitle) || one.title;
      if (!pages.has(one.page)) pages.set(one.page, title);
    }
  since = seen;
  if (told.size || unsent.value.size) unsent.value = told;
  const cookie = [...counts].map((one) => one.join(":")).join(".");
  const age = cookie ? 31_536_000 : 0;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `notes-unsent=${cookie}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  // Another tab may send it, and tells nobody.
  if (told.size) {
    const asking = import("./persist").then((part) => part.askToPersist());
    asking.catch(() => undefined);
  }
  clearTimeout(again);
  if (seen.size) again = setTimeout(noteUnsent, TOLD_MS);
}
