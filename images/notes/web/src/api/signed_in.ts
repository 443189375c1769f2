/**
 * The sign-in under which requests are sent. It ends with a sign-out and with another user.
 *
 * Invariant: no answer to a request of an ended sign-in, or to a request that was answered to
 * another user, is used.
 */
import { get, type Options } from "./client";

/** The sign-in has ended while a request was on its way. */
export class EndedError extends Error {}

let current = new AbortController();
let user = "";
let onAnother = (): void => undefined;

/** Sets what happens when a request was answered to another user. */
export function listenForAnother(act: () => void): void {
  onAnother = act;
}

/** Ends the sign-in, and begins that of `id`; of nobody if it is empty. */
export function beginSignIn(id: string): void {
  current.abort();
  current = new AbortController();
  user = id;
}

/** True until the sign-in that was current when this was called has ended. */
export function isCurrent(): () => boolean {
  const begun = current.signal;
  const id = user;
  return () => !begun.aborted && !(id !== "" && isAnother(id));
}

/**
 * The user who is signed in as far as this browser knows; undefined if nobody is.
 *
 * The server sets this cookie beside that of the session, and a sign-out removes both. It is there
 * without a network, and also tells of a sign-in through the plain pages.
 */
export function userOfBrowser(): string | undefined {
  const name = `${location.protocol === "https:" ? "__Host-" : ""}notes-user=`;
  const found = document.cookie.split("; ").find((one) => one.startsWith(name));
  return found?.slice(name.length);
}

/** True if this browser is signed in as somebody else than `id`. */
export function isAnother(id: string): boolean {
  const found = userOfBrowser();
  return found !== undefined && found !== id;
}

/** The requests to one address that are under way, by their turns, and the answer of the last one that has one. */
interface Line {
  turns: number;
  open: number;
  newest: number;
  answer?: unknown;
}

const lines = new Map<string, Line>();

/** The answer to a request of this turn: that of a later one, where that was faster. */
function newestOf(line: Line, turn: number, answer: unknown): unknown {
  if (turn > line.newest) Object.assign(line, { newest: turn, answer });
  return line.answer;
}

/**
 * Reads from the server, and calls `act` with the answer unless the sign-in has ended. An answer that was overtaken by
 * that of a later request is not used: what is shown and stored does not go back.
 */
export async function load<T>(
  path: string,
  act: (answer: T) => void,
  options: Options = {},
): Promise<T> {
  const isSame = isCurrent();
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  const stops = [current.signal, ...(options.signal ? [options.signal] : [])];
  for (const one of stops) one.addEventListener("abort", stop);
  const line = lines.get(path) ?? { turns: 0, open: 0, newest: 0 };
  lines.set(path, line);
  line.open += 1;
  line.turns += 1;
  const turn = line.turns;
  try {
    if (stops.some((one) => one.aborted)) throw new EndedError(path);
    const found = await get<T>(path, { ...options, signal: stopping.signal });
    if (!isSame() || options.signal?.aborted) {
      if (!stopping.signal.aborted) onAnother();
      throw new EndedError(path);
    }
    const answer = newestOf(line, turn, found) as T;
    act(answer);
    return answer;
  } catch (error) {
    throw stopping.signal.aborted ? new EndedError(path) : error;
  } finally {
    line.open -= 1;
    if (!line.open) lines.delete(path);
    for (const one of stops) one.removeEventListener("abort", stop);
  }
}
