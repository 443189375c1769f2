/** What is found while one types: pages by their text, and people by their names. */
import { useEffect, useState } from "preact/hooks";
import { UnreachableError } from "../api/client";
import { EndedError, load } from "../api/signed_in";
import type { Hit } from "../api/types";
import { storedPages } from "../sync/offline";
import { excerpt, marked } from "./match";
import { isOnline, mayMakeSpace, me } from "./store";

const PAUSE_MS = 120;
/** Longer than for pages: names are counted, so that nobody tries all beginnings. */
const NAMES_PAUSE_MS = 250;
const FEWEST_LETTERS = 2;

interface Hits {
  hits: Hit[];
  /** Why nothing was found out; empty otherwise. */
  problem: string;
}

/** The hits in the text: the server's after a pause, offline those of the stored pages. */
export function useHits(typed: string, space = ""): Hits & { isBusy: boolean } {
  const text = typed.trim().slice(0, 300);
  const asked = text && `${space} ${text}`;
  const [found, setFound] = useState<Hits & { asked: string }>({
    asked: "",
    hits: [],
    problem: "",
  });
  useEffect(() => {
    if (!text) return undefined;
    const stop = new AbortController();
    const show = (hits: Hit[], problem = ""): void => {
      if (!stop.signal.aborted) setFound({ asked, hits, problem });
    };
    const fail = (error: unknown): void => {
      if (!(error instanceof EndedError)) show([], error instanceof Error ? error.message : "?");
    };
    const timer = setTimeout(() => {
      hitsOf(text, space, stop.signal).then(show, fail);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked, isOnline.value]);
  // Hits of another space do not stay while those of this one are read.
  const isOfSpace = found.asked.startsWith(`${space} `);
  return {
    hits: text && isOfSpace ? found.hits : [],
    problem: asked && found.asked === asked ? found.problem : "",
    isBusy: text !== "" && found.asked !== asked,
  };
}

/** Asks the server; where it is not reached, the stored pages. A refusal, and an end by `signal`, is an error. */
export async function hitsOf(text: string, space: string, signal: AbortSignal): Promise<Hit[]> {
  const path = `/api/v1/search?limit=20${space && `&space_id=${space}`}&q=${encodeURIComponent(text)}`;
  try {
    return await load<Hit[]>(path, () => undefined, { signal });
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return inStored(text, space);
  }
}

async function inStored(typed: string, space: string): Promise<Hit[]> {
  const hits: Hit[] = [];
  for (const page of await storedPages(me.value?.id ?? "")) {
    if (space && page.space_id !== space) continue;
    const pieces = excerpt(`${page.node.title}\n${page.text}`, typed);
    if (pieces) {
      hits.push({
        id: page.id,
        space_id: page.space_id,
        title: marked(page.node.title, typed),
        excerpt: pieces,
      });
    }
  }
  return hits.slice(0, 20);
}

/** A person whom the user knows; the address is there for administrators. */
export interface Found {
  id: string;
  name: string;
  email: string | null;
}

/** The people whose names begin with what is typed; nobody on a space's own domain, or offline. */
export function usePeople(typed: string): Found[] {
  const text = typed.trim().slice(0, 100);
  const [found, setFound] = useState<{ text: string; people: Found[] }>({ text: "", people: [] });
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const isAsked = letters >= FEWEST_LETTERS && mayMakeSpace.value && isOnline.value;
  useEffect(() => {
    if (!isAsked) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const path = `/api/v1/people?q=${encodeURIComponent(text)}`;
      const show = (people: Found[]): void => setFound({ text, people });
      // Without an answer the pages are found nevertheless.
      load<Found[]>(path, show, { signal: stop.signal }).catch(() => undefined);
    }, NAMES_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, isAsked]);
  return isAsked && found.text === text ? found.people : [];
}
