/** The comments beside a page: the marks in its text, and the panel with the threads. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, BUSY_MS, isBusy } from "../../api/client";
import { EndedError, load } from "../../api/signed_in";
import { type Comment, mayComment, type PageNode } from "../../api/types";
import { isNarrow } from "../../app/layout";
import { comments, openPanel, panel, told } from "../../app/comments";
import { editing } from "../../app/editing";
import { Icon } from "../../app/icons";
import { isOnline } from "../../app/store";
import { done } from "../around/parts";
import {
  type Anchor,
  anchorsIn,
  clearMarks,
  drawMarks,
  selected,
  showPassage,
  textOfPage,
  threadAtCaret,
  threadsAt,
} from "./marks";
import { isListed, Panel, type Reading, type ThreadOf } from "./panel";
import { useReplies } from "./replies";
import { saidOf, showLater, waitingOn } from "./later";
import { ask } from "./requests";
import { beside, ready } from "./words";

export { ready };

/** The text is looked at again so long after its last change; meanwhile the browser moves the marks. */
const AFTER_MS = 300;
const NEW = "new";
/** So many passages are looked for: those of the oldest threads. */
const MOST_MARKED = 300;

/** Reads the comments of a page, and again when somebody has changed one. */
function useComments(page: string): [Reading, () => Promise<void>] {
  const [state, setState] = useState<Reading>("reading");
  const [tries, setTries] = useState(0);
  const heard = told.value;
  const turn = heard.page === page || heard.page === "" ? heard.turn : 0;
  const seen = useRef(0);
  if (turn) seen.current = turn;
  const read = async (signal?: AbortSignal): Promise<unknown> => {
    try {
      const path = `/api/v1/nodes/${page}/comments`;
      const show = (list: Comment[]): void => {
        comments.value = { page, list };
      };
      await load<Comment[]>(path, show, signal ? { signal } : {});
      setState("read");
      return undefined;
    } catch (error) {
      if (!(error instanceof EndedError))
        setState(error instanceof ApiError ? "refused" : "unreachable");
      return error;
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    void read(stop.signal).then((error) => {
      if (isBusy(error) && !stop.signal.aborted)
        setTimeout(() => stop.signal.aborted || setTries(tries + 1), BUSY_MS);
    });
    return () => stop.abort();
  }, [page, seen.current, isOnline.value, tries]);
  // The next person at this browser may not see them.
  useEffect(
    () => () => {
      comments.value = undefined;
    },
    [page],
  );
  return [state, async () => void (await read())];
}

/** Where the passages are in the text that is shown, found again after each change of it. */
function useAnchors(wanted: { id: string; quote: string }[]): ReadonlyMap<string, Anchor> {
  const [anchors, setAnchors] = useState<ReadonlyMap<string, Anchor>>(new Map());
  const known = useRef<ReadonlyMap<string, Anchor>>(new Map());
  const key = wanted.map((one) => `${one.id} ${one.quote}`).join("\n");
  useEffect(() => {
    const main = document.getElementById("main");
    if (!main || !wanted.length) {
      known.current = new Map();
      setAnchors(known.current);
      return undefined;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      timer = undefined;
      const root = textOfPage();
      if (!root) return;
      known.current = anchorsIn(root, wanted, known.current);
      setAnchors(known.current);
    };
    const later = (): void => {
      clearTimeout(timer);
      timer = setTimeout(look, AFTER_MS);
    };
    look();
    const watched = new MutationObserver(later);
    watched.observe(main, { childList: true, subtree: true, characterData: true });
    return () => {
      clearTimeout(timer);
      watched.disconnect();
    };
  }, [key]);
  return anchors;
}

/** A button at the selection of the text that is read. */
function Offer({ act }: { act: () => void }) {
  const [at, setAt] = useState<{ x: number; y: number }>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const selection = getSelection();
        const range = selection?.rangeCount ? selection.getRangeAt(0) : undefined;
        const isText =
          range && !range.collapsed && textOfPage()?.contains(range.commonAncestorContainer);
        const box = isText ? [...range.getClientRects()].at(-1) : undefined;
        setAt(box && selection?.toString().trim() ? { x: box.right, y: box.bottom } : undefined);
      }, 150);
    };
    const main = document.getElementById("main");
    document.addEventListener("selectionchange", look);
    main?.addEventListener("scroll", look, { passive: true });
    return () => {
      clearTimeout(timer);
      document.removeEventListener("selectionchange", look);
      main?.removeEventListener("scroll", look);
    };
  }, []);
  if (!at) return null;
  const left = Math.max(8, Math.min(at.x, innerWidth - 150));
  const top = Math.max(8, Math.min(at.y + 8, innerHeight - 56));
  return (
    <button
      type="button"
      class="offer"
      style={{ left: `${left}px`, top: `${top}px` }}
      // The selection stays.
      onPointerDown={(event) => event.preventDefault()}
      onClick={act}
    >
      <Icon name="comment" />
      {beside.value.comment}
    </button>
  );
}

/** An answer whose thread is not known here (it waits, and the others were not read) stands alone. */
function threadsOf(list: readonly Comment[]): ThreadOf[] {
  const known = new Set(list.map((one) => one.id));
  const below = new Map<string, Comment[]>();
  const isAnswer = (one: Comment): boolean => one.parent_id !== null && known.has(one.parent_id);
  for (const one of list) {
    if (one.parent_id) below.set(one.parent_id, [...(below.get(one.parent_id) ?? []), one]);
  }
  return list
    .filter((one) => !isAnswer(one))
    .map((first) => ({ first, replies: below.get(first.id) ?? [] }));
}

const focusThread = (id: string): void => {
  const found = document.querySelector<HTMLElement>(`[data-thread="${id}"]`);
  found?.scrollIntoView({ block: "nearest" });
  found?.focus({ preventScroll: true });
};

export function Comments({ node }: { node: PageNode }) {
  const b = beside.value;
  const [state, again] = useComments(node.id);
  const [now, setNow] = useState("");
  const [draft, setDraft] = useState<{ quote: string }>();
  const [isAll, setAll] = useState(false);
  const read = comments.value?.page === node.id ? comments.value.list : [];
  const waiting = waitingOn(node.id);
  const key = waiting.map((one) => one.id).join();
  const threads = useMemo(() => {
    const known = new Set(read.map((one) => one.id));
    return threadsOf([...read, ...waiting.filter((one) => !known.has(one.id))]);
  }, [read, key]);
  const may = mayComment(node.role);
  const opened = panel.value?.page === node.id ? panel.value.turn : 0;
  const isShown = (one: ThreadOf): boolean => isListed(one) || (isAll && opened > 0);
  const wanted = threads
    .filter(isShown)
    .flatMap(({ first }) => (first.quote ? [{ id: first.id, quote: first.quote }] : []));
  wanted.splice(MOST_MARKED);
  if (draft?.quote && opened) wanted.push({ id: NEW, quote: draft.quote });
  const anchors = useAnchors(wanted);
  const shown = useRef(anchors);
  shown.current = anchors;
  useEffect(() => {
    drawMarks(anchors.values(), draft?.quote ? NEW : opened ? now : "");
  }, [anchors, now, opened, draft]);
  useEffect(() => clearMarks, []);
  useEffect(() => void showLater(), [node.id]);
  const moves = useReplies(node.id, may, (quote) => setDraft((before) => before ?? { quote }));
  const wish = useRef("");
  const toThread = (id: string, isFocused: boolean): void => {
    setNow(id);
    wish.current = isFocused ? id : "";
    if (opened) requestAnimationFrame(() => (isFocused ? focusThread(id) : undefined));
    else openPanel(node.id);
  };
  useClicks(shown, (id) => {
    const isEditing = editing.value === node.id;
    if (isEditing && isNarrow.value && !opened) return;
    toThread(id, !isEditing);
  });
  // A request to open the panel looks at the selection, then at the caret.
  useLayoutEffect(() => {
    if (!opened) return;
    const id = wish.current;
    wish.current = "";
    const given = id ? undefined : selected();
    const found = id || (given ? undefined : threadAtCaret(shown.current.values()));
    if (given && may) setDraft({ quote: given.quote });
    else if (found) {
      setNow(found);
      focusThread(found);
    } else if (editing.value !== node.id) document.getElementById("beside.title")?.focus();
  }, [opened]);
  const start = (): void => openPanel(node.id);
  if (!opened) return may && editing.value !== node.id ? <Offer act={start} /> : null;
  const post = async (body: string): Promise<boolean> => {
    const what = { kind: "post" as const, id: "", page: node.id, title: node.title, body };
    let id = "";
    const send = async () => {
      const made = await ask({ ...what, ...(draft?.quote ? { quote: draft.quote } : {}) });
      id = made?.id ?? "";
      return made;
    };
    if (!(await done(send, (made) => saidOf(made, b.posted)))) return false;
    setDraft(undefined);
    await again();
    setNow(id);
    requestAnimationFrame(() => focusThread(id));
    return true;
  };
  return (
    <>
      {may && editing.value !== node.id && !draft && <Offer act={start} />}
      <Panel
        {...{ node, threads, anchors, now, state, draft, isAll, setAll, post, again, moves }}
        setDraft={may ? setDraft : undefined}
        show={(id) => {
          setNow(id);
          const anchor = anchors.get(id);
          if (anchor) showPassage(anchor);
        }}
      />
    </>
  );
}

/** Calls `act` with the thread of a passage that is clicked. */
function useClicks(
  shown: { current: ReadonlyMap<string, Anchor> },
  act: (id: string) => void,
): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onClick = (event: MouseEvent): void => {
      const target = event.target as Element | null;
      if (event.defaultPrevented || !target?.closest("#main .prose")) return;
      if (target.closest("a, button, input") || getSelection()?.isCollapsed === false) return;
      const [id] = threadsAt(shown.current.values(), event.clientX, event.clientY);
      if (id && id !== NEW) latest.current(id);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
}
