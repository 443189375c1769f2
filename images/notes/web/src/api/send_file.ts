/** Sends bytes and tells how many are on their way; `fetch` cannot tell that. */
import { ApiError, UnreachableError } from "./client";

export interface Sending {
  body: XMLHttpRequestBodyInit;
  method?: string;
  headers?: Record<string, string>;
  signal: AbortSignal;
  /** Hears how many bytes of the body are sent. */
  sent: (bytes: number) => void;
}

/** Sends a body and reads the JSON of the answer. Throws as `request` does. */
export function sendFile<T>(
  path: string,
  { body, method = "POST", headers, signal, sent }: Sending,
): Promise<T> {
  return new Promise<T>((done, fail) => {
    const call = new XMLHttpRequest();
    call.open(method, path);
    call.setRequestHeader("accept", "application/json");
    for (const [name, value] of Object.entries(headers ?? {})) call.setRequestHeader(name, value);
    const stop = (): void => call.abort();
    signal.addEventListener("abort", stop);
    call.upload.addEventListener("progress", (event) => sent(event.loaded));
    call.addEventListener("loadend", () => {
      signal.removeEventListener("abort", stop);
      if (signal.aborted) fail(signal.reason);
      else if (call.status === 0 || [502, 503, 504].includes(call.status))
        fail(new UnreachableError(path));
      else {
        const found = read(call.responseText);
        if (call.status < 300 && found) done(found as T);
        else fail(new ApiError(call.status, String(found?.detail ?? call.status)));
      }
    });
    if (signal.aborted) fail(signal.reason);
    else call.send(body);
  });
}

function read(text: string): { detail?: unknown } | undefined {
  try {
    return JSON.parse(text) as { detail?: unknown };
  } catch {
    return undefined;
  }
}
