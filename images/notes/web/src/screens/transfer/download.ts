/**
 * Downloads what the server writes while it is read, and tells how much of it has arrived.
 *
 * Invariant: a download that breaks off is an error and saves no file; a browser's own download would keep
 * the part as if it were whole.
 */
import { ApiError, UnreachableError } from "../../api/client";
import { EndedError, isCurrent } from "../../api/signed_in";
import { saveOnDevice } from "../../app/save_file";
import { underWay } from "./under_way";

/** Reads an address to the end, and saves it under the name that the server gives it, or under `name`. */
export const download = (
  path: string,
  name: string,
  signal: AbortSignal,
  arrived: (bytes: number) => void,
): Promise<number> => underWay(arrived, (tell) => read(path, name, signal, tell));

async function read(
  path: string,
  name: string,
  signal: AbortSignal,
  arrived: (bytes: number) => void,
): Promise<number> {
  const isSame = isCurrent();
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store", signal }).catch(
    (error: unknown) => {
      if (signal.aborted) throw error;
      throw new UnreachableError(path);
    },
  );
  if (!answer.ok || !answer.body) {
    const found = (await answer.json().catch(() => ({}))) as { detail?: string };
    throw new ApiError(answer.status, found.detail ?? String(answer.status));
  }
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, out) {
      bytes += part.byteLength;
      arrived(bytes);
      out.enqueue(part);
    },
  });
  // The browser keeps the parts, on its disk if they are large.
  const whole = await new Response(answer.body.pipeThrough(counting)).blob();
  if (!isSame()) throw new EndedError(path);
  saveOnDevice(whole, nameOf(answer.headers.get("content-disposition")) ?? name);
  return bytes;
}

/** The file name in a `content-disposition`, which has other letters than English ones in UTF-8. */
export function nameOf(header: string | null): string | undefined {
  const wide = /filename\*=UTF-8''([^;]+)/i.exec(header ?? "")?.[1];
  const plain = /filename="([^"]+)"/i.exec(header ?? "")?.[1];
  try {
    return wide ? decodeURIComponent(wide) : plain;
  } catch {
    return plain;
  }
}
