/** A job of the server as a screen follows it: asked for each second until it is done. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, UnreachableError } from "../../api/client";
import { EndedError, load } from "../../api/signed_in";
import { isOnline } from "../../app/store";

export interface Job {
  id: string;
  kind: string;
  state: "queued" | "running" | "done" | "failed";
  space_id: string | null;
  parent_id: string | null;
  name: string | null;
  progress: Partial<Record<"pages" | "pages_total" | "files" | "files_total", number>>;
  error: string | null;
  result: Result | null;
  created_at: string;
  finished_at: string | null;
  /** Who started it; the application's own jobs have nobody. */
  user_id: string | null;
  user_name: string | null;
}

export interface Result {
  source?: string;
  pages: number;
  files: number;
  changed?: number;
  left_out?: number;
  /** The job that imported the same zip before. */
  already?: string;
}

export interface ReportLine {
  number: number;
  path: string;
  outcome: "page" | "file" | "left out";
  node_id: string | null;
  file_id: string | null;
  notes: string[];
}

const EACH_MS = 1000;

export const PREVIEW = "import-preview";
export const isWorking = (job: Job): boolean => job.state === "queued" || job.state === "running";
/** True for an import that waits for its person, or has written nothing yet. */
export const isUnfinished = (job: Job): boolean =>
  job.kind === PREVIEW ? job.state !== "failed" : job.kind === "import" && isWorking(job);

export interface Followed<T> {
  found: T | undefined;
  isMissing: boolean;
  problem: string;
  again: () => void;
}

/** Reads an address again each second while `isGoing` is true of what it answered. */
export function useFollowed<T>(path: string, isGoing: (found: T) => boolean): Followed<T> {
  const [state, setState] = useState<Omit<Followed<T>, "again">>({
    found: undefined,
    isMissing: false,
    problem: "",
  });
  const [turn, setTurn] = useState(0);
  const online = isOnline.value;
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      let isNext = true;
      try {
        await load<T>(
          path,
          (found) => {
            isNext = isGoing(found);
            setState({ found, isMissing: false, problem: "" });
          },
          { signal: stop.signal },
        );
      } catch (error) {
        if (stop.signal.aborted || error instanceof EndedError) return;
        isNext = error instanceof UnreachableError;
        const isMissing = error instanceof ApiError && error.status === 404;
        if (!isNext) setState({ found: undefined, isMissing, problem: String(error) });
      }
      if (isNext && !stop.signal.aborted) timer = setTimeout(() => void ask(), EACH_MS);
    };
    void ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, turn, online]);
  return { ...state, again: () => setTurn((now) => now + 1) };
}
