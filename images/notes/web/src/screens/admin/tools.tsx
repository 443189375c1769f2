/** What the screens of the account and the administration share: requests, forms, questions. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, request, UnreachableError } from "../../api/client";
import { EndedError, isAnother, isCurrent, load } from "../../api/signed_in";
import { isOnline, userId } from "../../app/store";
import { wordsOf } from "../../app/part_words";
import { words } from "../../app/words";
import { type AdminWords, words as english } from "../../words/admin_en";

const admin = wordsOf("admin", english);

/** The words of these screens in the language of the workspace. */
export const adminWords = (): AdminWords => admin.words.value;
/** Resolves when they are loaded. */
export const adminReady = admin.ready;

/** Changes something on the server. EndedError if this browser is signed in as somebody else. */
export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  if (isAnother(userId())) {
    location.reload();
    throw new EndedError(path);
  }
  const isSame = isCurrent();
  const answer = await request<T>(method, path, body === undefined ? {} : { body });
  if (!isSame()) throw new EndedError(path);
  return answer;
}

/** What went wrong, in words. */
export function reason(error: unknown): string {
  if (error instanceof UnreachableError) return words.value.notReached;
  if (!(error instanceof ApiError)) return words.value.failed;
  const w = adminWords();
  if (error.status === 429) return w.tooOften;
  return error.message;
}

interface Loaded<T> {
  data: T | undefined;
  problem: string;
  again: () => Promise<void>;
}

/** Reads an address of the API, and again when the network returns. */
export function useLoaded<T>(path: string): Loaded<T> {
  const [found, setFound] = useState<{ path: string; data: T }>();
  const [problem, setProblem] = useState("");
  const online = isOnline.value;
  const read = async (signal?: AbortSignal): Promise<void> => {
    try {
      const use = (data: T): void => setFound({ path, data });
      await load<T>(path, use, signal ? { signal } : {});
      setProblem("");
    } catch (error) {
      if (!(error instanceof EndedError)) setProblem(reason(error));
    }
  };
  useEffect(() => {
    const stopping = new AbortController();
    void read(stopping.signal);
    return () => stopping.abort();
  }, [path, online]);
  return { data: found?.path === path ? found.data : undefined, problem, again: () => read() };
}

/** While something is read, or why it cannot be. */
export function State({ of }: { of: Loaded<unknown> }) {
  const w = words.value;
  if (of.problem)
    return (
      <p class="refused" role="alert">
        {of.problem}{" "}
        <button type="button" onClick={() => void of.again()}>
          {w.retry}
        </button>
      </p>
    );
  if (of.data === undefined)
    return (
      <p class="faint" role="status">
        {w.loading}
      </p>
    );
  return null;
}

interface FormProps {
  /** The words of the button that sends. */
  title: string;
  /** Sends the fields; what it throws is said in the form. */
  act: (fields: FormData) => Promise<void>;
  cancel?: () => void;
  /** Keeps what is in the fields when it was sent. */
  isKept?: boolean;
  children: ComponentChildren;
}

export function Form({ title, act, cancel, isKept = false, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!form.current || isBusy) return;
    setBusy(true);
    setProblem("");
    try {
      await act(new FormData(form.current));
      if (!isKept) form.current?.reset();
    } catch (error) {
      if (!(error instanceof EndedError)) setProblem(reason(error));
    }
    setBusy(false);
  };
  return (
    <form
      ref={form}
      class="sheet"
      onSubmit={(event) => void submit(event)}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !cancel) return;
        event.preventDefault();
        cancel();
      }}
    >
      {children}
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        {cancel && (
          <button type="button" onClick={cancel}>
            {words.value.cancel}
          </button>
        )}
        <button class="primary" aria-disabled={isBusy}>
          {title}
        </button>
      </div>
    </form>
  );
}

interface AskProps {
  question: string;
  title: string;
  act: () => Promise<void>;
  cancel: () => void;
}

/** Asks before something is done that cannot be taken back; the focus is on "Cancel". */
export function Ask({ question, title, act, cancel }: AskProps) {
  const root = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  // Before the next key: an Escape right after the click belongs to the question.
  useLayoutEffect(() => root.current?.querySelector<HTMLElement>("button")?.focus(), []);
  const run = (): void => {
    act().catch((error: unknown) => {
      if (!(error instanceof EndedError)) setProblem(reason(error));
    });
  };
  return (
    <div
      ref={root}
      class="sheet ask"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key === "Escape") cancel();
      }}
    >
      <p>{question}</p>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button type="button" onClick={cancel}>
          {words.value.cancel}
        </button>
        <button type="button" class="primary" onClick={run}>
          {title}
        </button>
      </div>
    </div>
  );
}

export interface FieldProps {
  name: string;
  label: string;
  type?: "text" | "password" | "email";
  value?: string;
  complete?: string;
  least?: number;
  most?: number;
  isOptional?: boolean;
  hint?: string;
}

export function Field(given: FieldProps) {
  const { name, label, type = "text", hint } = given;
  const shared = {
    name,
    defaultValue: given.value ?? "",
    autocomplete: given.complete ?? "off",
    minLength: given.least ?? 0,
    maxLength: given.most ?? 120,
    required: !given.isOptional,
  };
  return (
    <label class="field">
      {label}
      {type === "text" && <input type="text" {...shared} />}
      {type === "email" && <input type="email" {...shared} />}
      {type === "password" && <input type="password" {...shared} />}
      {hint && <small class="faint">{hint}</small>}
    </label>
  );
}

/** A field of a form as text. */
export const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? "");
