/** What a file on its way shows, and which files can wait. Pure. */

/** A file above that goes in chunks: those that have arrived stay at the server. */
export const LARGE_BYTES = 8 * 1024 * 1024;

/** "asked": its person has to choose the file again. */
export type UploadState = "asked" | "failed" | "paused" | "sending";

export interface Facts {
  hasFile: boolean;
  /** Why it has failed; empty while it has not. */
  reason: string;
  isPaused: boolean;
}

export function stateOf({ hasFile, reason, isPaused }: Facts): UploadState {
  if (!hasFile) return "asked";
  if (reason) return "failed";
  return isPaused ? "paused" : "sending";
}

/** True for a file whose upload a person can have wait: nothing that has arrived is sent again. */
export const mayPause = (bytes: number): boolean => bytes > LARGE_BYTES;
