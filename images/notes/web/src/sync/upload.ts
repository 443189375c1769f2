/**
 * The upload of one file to a page: in one form up to 8 MB, above that in chunks, three at a time.
 *
 * Invariant: a chunk that the server has is not sent again, however often `run` is called. After a form whose
 * answer is unknown the file goes in chunks: those can be repeated, and make one file.
 */
import { ApiError, isBusy, UnreachableError } from "../api/client";
import { LARGE_BYTES } from "./upload_state";

const AT_ONCE = 3;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 500;

export interface Stored {
  id: string;
  name: string;
}

/** An upload at the server: it has all chunks but the missing ones. */
export interface Opened {
  id: string;
  chunk_size: number;
  missing: number[];
}

/** How far an upload came before a reload: its id at the server; "" if a form was tried. */
export type Begun = Pick<Opened, "id" | "chunk_size"> | "";

/** What an upload needs of the world around it. */
export interface Wire {
  /** Asks which chunks the server does not have. */
  state(page: string, upload: string, signal: AbortSignal): Promise<Opened>;
  open(page: string, file: File, signal: AbortSignal): Promise<Opened | Stored>;
  form(page: string, file: File, signal: AbortSignal, sent: (n: number) => void): Promise<Stored>;
  chunk(
    page: string,
    chunk: { upload: string; number: number; bytes: Blob },
    signal: AbortSignal,
    sent: (n: number) => void,
  ): Promise<Opened | Stored>;
  /** Tells the server that the upload is given up; a failure is no error. */
  giveUp(page: string, upload: string): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const isStored = (found: Opened | Stored): found is Stored => !("missing" in found);

/** True for a failure that passes by itself. */
const isPassing = (error: unknown): boolean => error instanceof UnreachableError || isBusy(error);

export class FileUpload {
  #opened: Opened | undefined;
  #before: Begun | undefined;
  #isFormTried: boolean;

  /** `begun` hears of what a later upload of the same file can go on with; `before` is that. */
  constructor(
    readonly page: string,
    readonly file: File,
    readonly wire: Wire,
    readonly begun: (how: Begun) => void = () => undefined,
    before?: Begun,
  ) {
    this.#before = before;
    this.#isFormTried = before !== undefined;
  }

  /** Sends what the server doesn't have; tries again while the failure may pass. Throws the last one. */
  async run(signal: AbortSignal, sent: (bytes: number) => void): Promise<Stored> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(signal, sent);
      } catch (error) {
        if (signal.aborted || attempt === ATTEMPTS) throw error;
        if (error instanceof ApiError && this.#opened && [404, 410].includes(error.status)) {
          // The server has forgotten the upload: it begins anew.
          this.#opened = undefined;
        } else if (!isPassing(error)) throw error;
        await this.wire.pause(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
      }
    }
  }

  /** Gives up: the server need not keep the chunks that it has. */
  giveUp(): void {
    const known = this.#opened ?? this.#before;
    if (known) this.wire.giveUp(this.page, known.id);
  }

  async #once(signal: AbortSignal, sent: (bytes: number) => void): Promise<Stored> {
    const { page, file, wire } = this;
    if (file.size <= LARGE_BYTES && !this.#isFormTried) {
      this.#isFormTried = true;
      this.begun("");
      return wire.form(page, file, signal, sent);
    }
    if (!this.#opened && this.#before) {
      this.#opened = await this.#asked(this.#before, signal);
      this.#before = undefined;
    }
    if (!this.#opened) {
      const found = await wire.open(page, file, signal);
      if (isStored(found)) return found;
      this.#opened = found;
      this.begun({ id: found.id, chunk_size: found.chunk_size });
    }
    return this.#chunks(this.#opened, signal, sent);
  }

  /** What the server has of an upload that began before a reload. */
  async #asked(before: Exclude<Begun, "">, signal: AbortSignal): Promise<Opened> {
    try {
      return await this.wire.state(this.page, before.id, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      // It is complete, or forgotten: the answer to a repeated chunk tells that.
      return { ...before, missing: [] };
    }
  }

  async #chunks(
    opened: Opened,
    signal: AbortSignal,
    sent: (bytes: number) => void,
  ): Promise<Stored> {
    const { page, file, wire } = this;
    // All are sent, and no answer told of the end: the repeated first one is answered as the last.
    const queue = opened.missing.length ? [...opened.missing] : [0];
    const underWay = new Map<number, number>();
    const lengthOf = (number: number): number =>
      Math.min(opened.chunk_size, file.size - number * opened.chunk_size);
    const tell = (): void => {
      const missing = opened.missing.reduce((sum, number) => sum + lengthOf(number), 0);
      const begun = [...underWay.values()].reduce((sum, bytes) => sum + bytes, 0);
      sent(Math.min(file.size, file.size - missing + begun));
    };
    tell();
    let stored: Stored | undefined;
    const work = async (): Promise<void> => {
      for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
        const start = number * opened.chunk_size;
        const bytes = file.slice(start, start + lengthOf(number));
        const at = number;
        const chunk = { upload: opened.id, number, bytes };
        try {
          const found = await wire.chunk(page, chunk, signal, (count) => {
            underWay.set(at, count);
            tell();
          });
          opened.missing = opened.missing.filter((one) => one !== at);
          if (isStored(found)) stored = found;
        } finally {
          underWay.delete(at);
        }
        tell();
      }
    };
    const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    if (stored) return stored;
    const failed = results.find((one) => one.status === "rejected");
    throw failed ? failed.reason : new UnreachableError(page);
  }
}
