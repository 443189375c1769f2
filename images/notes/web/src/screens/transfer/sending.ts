/**
 * The upload of a zip to import: in one form up to 8 MB, above that in chunks that go on after a reload.
 *
 * Invariant: the zip of one person is never sent under another one's name. What an interrupted upload can go
 * on with is kept under its file's name, size and date; the file itself is asked for again.
 */
import { request } from "../../api/client";
import { sendFile } from "../../api/send_file";
import { EndedError, isCurrent } from "../../api/signed_in";
import { userId } from "../../app/store";
import { checksum, pause } from "../../editor/upload_wire";
import { type Begun, FileUpload, type Opened, type Stored, type Wire } from "../../sync/upload";
import type { Job } from "./job";
import { underWay } from "./under_way";

/** An upload that was interrupted, and the file that it was of. */
export interface Interrupted {
  begun: Exclude<Begun, "">;
  name: string;
  size: number;
  modified: number;
}

const keyOf = (space: string): string => `notes-import:${userId()}:${space}`;

export function interrupted(space: string): Interrupted | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(space)) ?? "null") as Interrupted | null;
    return found ?? undefined;
  } catch {
    return undefined;
  }
}

function keep(space: string, what: Interrupted | undefined): void {
  try {
    if (what) localStorage.setItem(keyOf(space), JSON.stringify(what));
    else localStorage.removeItem(keyOf(space));
  } catch {
    // A browser without storage begins again after a reload.
  }
}

/** Gives an interrupted upload up, also at the server. */
export function forget(space: string): void {
  const known = interrupted(space);
  keep(space, undefined);
  if (known) wire(space, "").giveUp(space, known.begun.id);
}

/** Sends a zip and asks for its preview; returns the id of the job. */
export async function sendZip(
  space: string,
  parent: string,
  file: File,
  signal: AbortSignal,
  sent: (bytes: number) => void,
): Promise<string> {
  const known = interrupted(space);
  const isSame =
    known?.name === file.name && known.size === file.size && known.modified === file.lastModified;
  if (known && !isSame) forget(space);
  const { name, size, lastModified: modified } = file;
  const begun = (how: Begun): void => {
    if (how) keep(space, { begun: how, name, size, modified });
  };
  const before = isSame ? known?.begun : undefined;
  const upload = new FileUpload(space, file, wire(space, parent), begun, before);
  const { id } = await underWay(sent, (tell) => upload.run(signal, tell));
  keep(space, undefined);
  return id;
}

/** The requests of an upload; what is "stored" in the end is the job that reads the zip. */
function wire(space: string, parent: string): Wire {
  const isSame = isCurrent();
  const at = (path: string, more = ""): string => {
    if (!isSame()) throw new EndedError(space);
    const query = new URLSearchParams(more);
    if (parent) query.set("parent_id", parent);
    const text = query.toString();
    return `/api/v1/spaces/${space}/imports${path}${text ? `?${text}` : ""}`;
  };
  const begin = async (opened: Opened, signal: AbortSignal): Promise<Opened | Stored> => {
    if (opened.missing.length) return opened;
    const body = { upload_id: opened.id };
    const job = await request<Job>("POST", at("", "preview=true"), { body, signal });
    return { id: job.id, name: job.name ?? "" };
  };
  return {
    state: (_, upload, signal) => request("GET", at(`/uploads/${upload}`), { signal }),
    async open(_, { name, size, type }, signal) {
      const body = { name, size, type: type.slice(0, 200) };
      return begin(await request<Opened>("POST", at("/uploads"), { body, signal }), signal);
    },
    async form(_, file, signal, sent) {
      const body = new FormData();
      body.append("file", file);
      return sendFile<Stored>(at("", "preview=true"), { body, signal, sent });
    },
    async chunk(_, { upload, number, bytes }, signal, sent) {
      const headers = {
        "content-type": "application/octet-stream",
        "upload-id": upload,
        "upload-chunk": String(number),
        ...(await checksum(bytes)),
      };
      const state = await sendFile<Opened>(at("/uploads"), { body: bytes, headers, signal, sent });
      return begin(state, signal);
    },
    giveUp(_, upload) {
      if (isSame()) void request("DELETE", at(`/uploads/${upload}`)).catch(() => undefined);
    },
    pause,
  };
}
