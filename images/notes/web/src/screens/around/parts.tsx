/** What the screens around a page share: the page, an answer of the server, and a question. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, UnreachableError } from "../../api/client";
import { EndedError, load } from "../../api/signed_in";
import type { PageNode } from "../../api/types";
import { arrive } from "../../app/router";
import { pagePath } from "../../app/routes";
import { isOnline, notice, opened, openPage } from "../../app/store";
import { locale, size, words } from "../../app/words";
import { Message } from "../message";
import { Skeleton } from "../page";
import { around } from "./words";

type Problem = "unreachable" | "refused" | "missing" | "failed";

export interface Answer<T> {
  answer?: T;
  problem?: Problem;
  detail?: string;
  /** Reads it again; what was read stays until the new answer is there. */
  again: () => void;
}

/** What the server answers to a path, read again when `turn` changes or the network is back. */
export function useAnswer<T>(path: string, turn: unknown = 0): Answer<T> {
  const [state, setState] = useState<Omit<Answer<T>, "again">>({});
  const [tries, setTries] = useState(0);
  const online = isOnline.value;
  useEffect(() => setState({}), [path]);
  useEffect(() => {
    const stop = new AbortController();
    load<T>(path, (answer) => setState({ answer }), { signal: stop.signal }).catch((error) => {
      if (error instanceof EndedError) return;
      const problem = problemOf(error);
      const found = { problem, detail: error instanceof Error ? error.message : String(error) };
      setState((now) => (problem === "unreachable" && now.answer !== undefined ? now : found));
    });
    return () => stop.abort();
  }, [path, turn, tries, online]);
  return { ...state, again: () => setTries(tries + 1) };
}

function problemOf(error: unknown): Problem {
  if (error instanceof UnreachableError) return "unreachable";
  if (!(error instanceof ApiError)) return "failed";
  return error.status === 404 ? "missing" : error.status === 403 ? "refused" : "failed";
}

/** The open page of a screen around it; undefined until it is read. */
export function usePage(id: string): PageNode | undefined {
  useEffect(() => {
    void openPage(id);
  }, [id]);
  return opened.value?.id === id ? opened.value.node : undefined;
}

interface FrameProps {
  title: string | undefined;
  answer: Answer<unknown>;
  back: string;
  children: ComponentChildren;
}

/** A screen with its heading; without an answer, what is the matter instead. */
export function Frame({ title, answer, back, children }: FrameProps) {
  const w = words.value;
  const a = around.value;
  const isThere = title !== undefined && answer.answer !== undefined;
  useLayoutEffect(() => {
    if (!isThere) return;
    document.title = title;
    arrive();
  }, [isThere, title]);
  if (isThere) {
    return (
      <div class="around">
        <h1 id="title" tabIndex={-1} dir="auto">
          {title}
        </h1>
        {children}
      </div>
    );
  }
  const action = { title: a.backToPage, path: back };
  switch (answer.problem) {
    case "unreachable":
      return <Message title={a.needsNetwork} text={a.needsNetworkText} retry={answer.again} />;
    case "missing":
      return <Message title={w.notFound} text={w.notFoundText} />;
    case "refused":
      return <Message title={a.notAllowed} text={answer.detail ?? ""} action={action} />;
    case "failed":
      return <Message title={w.failed} text={answer.detail ?? ""} retry={answer.again} />;
    default:
      return <Skeleton />;
  }
}

/** The address of the page that a screen is around, for its way back. */
export const backTo = (id: string): string => pagePath(id);

/** Does a request and says what came of it; false if the server did not do it. */
export async function done<T>(
  work: () => Promise<T>,
  text: string | ((answer: T) => string),
): Promise<boolean> {
  try {
    const answer = await work();
    notice.value = typeof text === "string" ? text : text(answer);
    return true;
  } catch (error) {
    if (error instanceof EndedError) return false;
    notice.value =
      error instanceof UnreachableError
        ? words.value.notReached
        : error instanceof Error
          ? error.message
          : String(error);
    return false;
  }
}

/** The size of files; small ones have a size, too. */
export const sizeOf = (bytes: number): string =>
  bytes >= 1000
    ? size(bytes)
    : new Intl.NumberFormat(locale.value, {
        style: "unit",
        unit: "byte",
        unitDisplay: "long",
      }).format(bytes);

interface AskProps {
  question: string;
  yes: string;
  act: () => void;
  close: () => void;
}

/** Asks before something that cannot be undone; the focus begins on "Cancel". */
export function Ask({ question, yes, act, close }: AskProps) {
  const ref = useRef<HTMLDialogElement>(null);
  // Before the next key: an Escape right after the click belongs to the question.
  useLayoutEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      // The button that asked may be gone with what it was about.
      const isThere = before instanceof HTMLElement && before.isConnected;
      (isThere ? before : document.getElementById("title"))?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog ref={ref} class="modal" aria-label={yes} onClose={close}>
      <p dir="auto">{question}</p>
      <div class="buttons">
        <button type="button" onClick={close} autofocus>
          {words.value.cancel}
        </button>
        <button
          type="button"
          class="primary"
          data-yes
          onClick={() => {
            close();
            act();
          }}
        >
          {yes}
        </button>
      </div>
    </dialog>
  );
}
