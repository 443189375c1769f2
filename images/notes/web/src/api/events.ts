/**
 * Live updates: one tab of all reads the event stream and passes the events on to the others.
 *
 * Where a page came over plain HTTP there are no locks to choose that tab by: each tab reads its own.
 * With a stream for each tab, a browser would run out of its six connections to a host (HTTP/1.1).
 * Invariant: after a gap, every tab gets `reset` and reads its data again. A stream that opens slowly leaves none: it
 * begins where its tab began to read.
 */
import { get } from "./client";
import type { LiveEvent } from "./types";

const KINDS = [
  "page.made",
  "page.saved",
  "page.moved",
  "page.left",
  "page.trashed",
  "page.restored",
  "page.deleted",
  "page.permissions",
  "page.edited",
  "page.people",
  "page.carets",
  "comment.made",
  "comment.changed",
  "comment.removed",
  "space.made",
  "space.changed",
  "space.members",
  "space.deleted",
  "notification.made",
  "notification.read",
] as const;
const CHANNEL = "notes-events";
/** The server says something every 15 s: after three times that nobody is at the other end any more. */
const QUIET_MS = 45_000;
const LOOKS_MS = 5000;

/** Calls `act` for each event since a place, if that is known, until the returned function is called. */
export function follow(act: (event: LiveEvent) => void, since?: string): () => void {
  const stopping = new AbortController();
  if (!navigator.locks) {
    void lead(act, stopping.signal, since);
    return () => stopping.abort();
  }
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = (message: MessageEvent<LiveEvent>) => act(message.data);
  const tell = (event: LiveEvent): void => {
    act(event);
    channel.postMessage(event);
  };
  const { signal } = stopping;
  navigator.locks
    .request(CHANNEL, { ifAvailable: true }, (lock) =>
      lock
        ? lead(tell, signal, since)
        : // Between the former leader's end and the first answer nobody has heard of anything.
          navigator.locks.request(CHANNEL, { signal }, () => lead(tell, signal)),
    )
    .catch(() => undefined);
  stopping.signal.addEventListener("abort", () => channel.close());
  return () => stopping.abort();
}

/** Reads the stream until the signal; what begins without a place begins with a reset, since events may be missing. */
function lead(
  tell: (event: LiveEvent) => void,
  signal: AbortSignal,
  since?: string,
): Promise<void> {
  return new Promise((done) => {
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let pause = 1000;
    let from = since ? `?since=${since}` : "";
    /** Until when something has to be heard; a server of before tells no beat, and may be silent. */
    let due = Number.POSITIVE_INFINITY;
    let isBeating = false;
    const hear = (): void => {
      due = isBeating ? Date.now() + QUIET_MS : Number.POSITIVE_INFINITY;
    };
    const open = (): void => {
      due = Date.now() + QUIET_MS;
      isBeating = false;
      source = new EventSource(`/api/v1/events${from}`);
      for (const kind of KINDS) {
        source.addEventListener(kind, (event) => {
          hear();
          tell({ ...JSON.parse(event.data), kind });
        });
      }
      source.onopen = () => {
        pause = 1000;
        hear();
      };
      source.addEventListener("beat", () => {
        isBeating = true;
        hear();
      });
      for (const kind of ["hello", "reset"]) {
        source.addEventListener(kind, () => {
          hear();
          tell({ kind: "reset" });
        });
      }
      source.onerror = () => {
        // A browser connects again by itself unless the answer was an error.
        if (source?.readyState !== EventSource.CLOSED) return;
        from = "";
        due = Number.POSITIVE_INFINITY;
        // The stream does not tell why it was refused: if the session has ended, this request does.
        void get("/api/v1/me").catch(() => undefined);
        timer = setTimeout(open, pause * (0.5 + Math.random()));
        pause = Math.min(pause * 2, 8000);
      };
    };
    open();
    // The connection of a device that slept, or to a node that lost its power, may stay open without an end.
    const looking = setInterval(() => {
      if (Date.now() <= due) return;
      source?.close();
      from = "";
      open();
    }, LOOKS_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      clearInterval(looking);
      source?.close();
      done();
    });
  });
}
