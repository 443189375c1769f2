/** Sends requests to the JSON API. A failure is one of three: refused, unreachable, aborted. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    detail: string,
    /** Of a 409: what the server has now. */
    readonly current?: unknown,
    /** Of a 401: the sign-in has expired; nobody has ended it. */
    readonly hasExpired = false,
  ) {
    super(detail);
  }
}

/** The server was not reached, or has no database for the moment. */
export class UnreachableError extends Error {
  constructor(
    path: string,
    /** Of an answer that says so; 0 if there was none. */
    readonly status = 0,
  ) {
    super(path);
  }
}

/** True for a refusal that says nothing about what was asked for: the same request may be answered later. */
export const isBusy = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 429 || error.status >= 500);

/** After so long a busy server is asked again. */
export const BUSY_MS = 10_000;

const UNAVAILABLE = new Set([502, 503, 504]);
let onSignedOut = (_: boolean): void => undefined;
let onReached = (_: boolean): void => undefined;

/** Sets what happens when the session has ended or expired, and when the server is or is not reached. */
export function listen(
  signedOut: (hasExpired: boolean) => void,
  reached: (isReached: boolean) => void,
): void {
  onSignedOut = signedOut;
  onReached = reached;
}

export interface Options {
  body?: unknown;
  signal?: AbortSignal;
  /** True if a 401 is an expected answer. */
  isProbe?: boolean;
}

export async function request<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const init: RequestInit = { method, credentials: "same-origin", cache: "no-store" };
  init.headers = { accept: "application/json" };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    init.body = JSON.stringify(options.body);
    init.headers["content-type"] = "application/json";
  }
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    onReached(false);
    throw new UnreachableError(path);
  }
  if (UNAVAILABLE.has(answer.status)) {
    onReached(false);
    throw new UnreachableError(path, answer.status);
  }
  onReached(true);
  if (answer.status === 401 && !options.isProbe) onSignedOut(isExpired(answer));
  if (!answer.ok) throw await errorOf(answer);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

export const get = <T>(path: string, options?: Options): Promise<T> =>
  request<T>("GET", path, options);

const isExpired = (answer: Response): boolean => answer.headers.has("x-notes-session");

async function errorOf(answer: Response): Promise<ApiError> {
  try {
    const document = (await answer.json()) as { detail?: string; current?: unknown };
    const { detail, current } = document;
    return new ApiError(answer.status, detail ?? String(answer.status), current, isExpired(answer));
  } catch {
    return new ApiError(answer.status, String(answer.status));
  }
}
