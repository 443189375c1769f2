/** The requests of an upload, sent under the sign-in under which it began. */
import { request, UnreachableError } from "../api/client";
import { sendFile } from "../api/send_file";
import { EndedError, isCurrent } from "../api/signed_in";
import { isWaiting } from "../app/waiting";
import type { Wire } from "../sync/upload";

/** `sha256=…` of the bytes; nothing where a page came over plain HTTP, which has no digests. */
export async function checksum(bytes: Blob): Promise<Record<string, string>> {
  if (!crypto.subtle) return {};
  const found = await crypto.subtle.digest("SHA-256", await bytes.arrayBuffer());
  const digits = [...new Uint8Array(found)].map((byte) => byte.toString(16).padStart(2, "0"));
  return { "upload-checksum": `sha256=${digits.join("")}` };
}

/**
 * With the `key` the server makes one attachment of the file, however often it is sent; `isSame` tells if the person
 * still is signed in who began.
 */
export function wire(key: string, isSame = isCurrent()): Wire {
  const pathOf = (page: string): string => {
    // The file of one person is never sent under another one's name.
    if (!isSame()) throw new EndedError(page);
    if (isWaiting(page)) throw new UnreachableError(page);
    return `/api/v1/nodes/${page}/uploads`;
  };
  return {
    state: async (page, upload, signal) => request("GET", `${pathOf(page)}/${upload}`, { signal }),
    open: async (page, { name, size, type }, signal) =>
      request("POST", pathOf(page), {
        body: { name, size, type: type.slice(0, 200), key },
        signal,
      }),
    async form(page, file, signal, sent) {
      const body = new FormData();
      body.append("file", file);
      return sendFile(pathOf(page), { body, headers: { "upload-key": key }, signal, sent });
    },
    async chunk(page, { upload, number, bytes }, signal, sent) {
      const headers = {
        "content-type": "application/octet-stream",
        "upload-id": upload,
        "upload-chunk": String(number),
        ...(await checksum(bytes)),
      };
      return sendFile(pathOf(page), { body: bytes, headers, signal, sent });
    },
    giveUp(page, upload) {
      if (isSame())
        void request("DELETE", `/api/v1/nodes/${page}/uploads/${upload}`).catch(() => undefined);
    },
    pause,
  };
}

/** Resolves after a while; fails with the signal's reason. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((done, fail) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      fail(signal.reason);
    });
  });
