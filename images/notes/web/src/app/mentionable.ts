/** Finds people to mention on a page, after a pause in the typing. */
import { load } from "../api/signed_in";
import type { Person } from "../api/types";

const PAUSE_MS = 120;
let stopping = new AbortController();

/** Calls `show` with the people whose names begin with what is typed; a later call replaces an earlier one. */
export function findPeople(page: string, typed: string, show: (found: Person[]) => void): void {
  stopping.abort();
  stopping = new AbortController();
  const { signal } = stopping;
  const path = `/api/v1/nodes/${page}/mentionable?q=${encodeURIComponent(typed.trim())}`;
  setTimeout(() => {
    if (signal.aborted) return;
    // Without a network, or after too many lookups, nobody is offered.
    load<Person[]>(path, show, { signal }).catch(() => signal.aborted || show([]));
  }, PAUSE_MS);
}
