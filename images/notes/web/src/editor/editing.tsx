/** The editor in place of a page's text: title, toolbar, document. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type EditorState, NodeSelection, Selection } from "prosemirror-state";
import { EditorView, type NodeView } from "prosemirror-view";
import type { Node } from "prosemirror-model";
import type { PageNode } from "../api/types";
import type { Act } from "../app/commands";
import { words } from "../app/words";
import { notice } from "../app/store";
import { readInput, takeInput, whenComposed } from "./input";
import { isForeign, refuses, weigh, writing } from "./limits";
import { mention } from "./mention";
import { changes, sessions } from "./held";
import { close, open } from "./open";
import { doubtsOf } from "./places";
import { isLinking } from "./plugins";
import type { Session } from "./session";
import { slash } from "./slash";
import { Menus } from "./slash_menu";
import { edges, Toolbar } from "./toolbar";
import { upload } from "./uploads";

/** A task with its box; a click on the box is an edit. */
function taskItem(given: Node, view: EditorView, place: () => number | undefined): NodeView {
  const dom = document.createElement("li");
  const contentDOM = document.createElement("div");
  let node = given;
  const box = document.createElement("input");
  box.type = "checkbox";
  box.contentEditable = "false";
  box.ariaLabel = words.value.done;
  box.addEventListener("change", () => {
    const at = place();
    if (at !== undefined) view.dispatch(view.state.tr.setNodeAttribute(at, "checked", box.checked));
  });
  const draw = (): void => {
    const isTask = typeof node.attrs.checked === "boolean";
    dom.className = isTask ? "task" : "";
    box.checked = node.attrs.checked === true;
    if (isTask) dom.prepend(box);
    else box.remove();
  };
  dom.append(contentDOM);
  draw();
  return {
    dom,
    contentDOM,
    update(next) {
      if (next.type !== node.type) return false;
      node = next;
      draw();
      return true;
    },
    stopEvent: (event) => event.target === box,
    ignoreMutation: (record) => record.target !== contentDOM && !contentDOM.contains(record.target),
  };
}

/**
 * Puts the caret back into the text that has the focus. A closed dialog gives the focus back without the selection, and
 * its removal moves the selection to what stands before it, without an event; the editor does not look for that.
 */
function keepCaret(view: EditorView): void {
  const at = getSelection()?.anchorNode;
  if (at && view.hasFocus() && !view.dom.contains(at)) view.focus();
}

function mount(place: HTMLElement, session: Session): EditorView {
  let hasEscaped = false;
  const view: EditorView = new EditorView(place, {
    state: session.state,
    dispatchTransaction(tr) {
      if (!refuses(view, tr)) session.apply(tr);
    },
    attributes: {
      role: "textbox",
      "aria-multiline": "true",
      "aria-label": words.value.text,
      "aria-describedby": "editor-keys",
      class: "prose",
    },
    scrollThreshold: edges(() => view, 0),
    scrollMargin: edges(() => view, 5),
    nodeViews: { taskItem, listItem: taskItem },
    handleClickOn(_view, _pos, one, at, event, isDirect) {
      const { type } = one;
      const isNumber = type.name === "footnote" && event.target === view.nodeDOM(at);
      if (!isDirect || !(isNumber || type.name === "footnoteReference")) return false;
      void import("./footnotes").then((part) => part.clicked(view, one, at));
      return true;
    },
    handleDOMEvents: {
      footnote() {
        void import("./footnotes").then((part) => part.footnote(view));
        return true;
      },
      keep() {
        session.start();
        void import("./keep_version")
          .then((part) => part.keepVersion(session, { changes, words: writing }))
          .catch(() => undefined);
        return true;
      },
      act(_view, event: CustomEvent<Act>) {
        void import("./more").then((part) => part.act(view, event.detail)).catch(() => undefined);
        return true;
      },
      // What is typed next goes where the caret is now.
      keypress: takeInput,
      cut: takeInput,
      paste: takeInput,
      focus() {
        setTimeout(() => keepCaret(view), 50);
        return false;
      },
      keydown(_view, event) {
        keepCaret(view);
        takeInput(view, event);
        // After Escape, Tab leaves the editor, to its uploads first; links and boxes would hold it.
        if (event.key === "Tab" && hasEscaped) {
          const upload = view.dom.querySelector<HTMLElement>(".upload button");
          const next = event.shiftKey ? ".title-field" : "[data-done]";
          const after = (!event.shiftKey && upload) || document.querySelector<HTMLElement>(next);
          after?.focus();
          event.preventDefault();
          return true;
        }
        // The Escape that closes a menu is not yet the one that leaves.
        const menu = slash.of(view.state) ?? mention.of(view.state);
        const isMenus = Boolean(menu?.found.length);
        if (event.key !== "Shift") hasEscaped = event.key === "Escape" && !isMenus;
        return false;
      },
    },
  });
  return view;
}

/** The list of doubtful places, fetched when there are any. */
function DoubtfulPlaces(given: { session: Session; state: EditorState }) {
  const [part, setPart] = useState<typeof import("./doubts")>();
  useEffect(() => void import("./doubts").then(setPart, () => undefined), []);
  return part ? <part.Doubts {...given} /> : null;
}

/** The question for a link's address; its part is fetched when the editor is open. */
function Linking({ view }: { view: EditorView }) {
  const [part, setPart] = useState<typeof import("./more")>();
  useEffect(
    () =>
      void import("./more").then(setPart, () => {
        isLinking.value = false;
        notice.value = words.value.notReached;
      }),
    [],
  );
  return part ? <part.LinkForm view={view} /> : null;
}

/** The pictures of other sites, fetched when there are any. */
function Foreign({ view, session, doc }: { view: EditorView; session: Session; doc: Node }) {
  const [part, setPart] = useState<typeof import("./foreign")>();
  useEffect(() => void import("./foreign").then(setPart, () => undefined), []);
  return part ? (
    <part.ForeignPictures
      {...{ view, isForeign, words: writing, doc }}
      upload={(file, pos, src) => upload(view, session, [file], pos, src)}
      select={(pos) => {
        const { tr } = view.state;
        view.dispatch(tr.setSelection(NodeSelection.create(tr.doc, pos)).scrollIntoView());
        view.focus();
      }}
    />
  ) : null;
}

/** Puts the caret into a block, at the top of the screen; nothing for the first block. */
function goTo(view: EditorView, block: number): void {
  const { doc, tr } = view.state;
  if (!block || block >= doc.childCount) return;
  const at = doc.resolve(0).posAtIndex(block);
  view.dispatch(tr.setSelection(Selection.near(doc.resolve(at))));
  (view.nodeDOM(at) as Element | null)?.scrollIntoView();
}

interface Given {
  node: PageNode;
  /** The block that the reader saw first, from 0. */
  from: number;
  done: () => void;
}

export function Editing({ node, from, done }: Given) {
  const w = words.value;
  const place = useRef<HTMLDivElement>(null);
  const [session, setSession] = useState<Session>();
  const [view, setView] = useState<EditorView>();
  const [count, setCount] = useState(0);
  // A page has a title; the field is empty while one thinks of another.
  const [isBlank, setBlank] = useState(false);
  useEffect(() => {
    let isGone = false;
    let opened: Session | undefined;
    open(node.id).then(
      (found) => {
        opened = found;
        if (isGone) close(found);
        else setSession(found);
      },
      (error) => {
        notice.value = w.notOpened(error instanceof Error ? error.message : String(error));
        done();
      },
    );
    return () => {
      isGone = true;
      if (opened) close(opened);
    };
  }, [node.id]);
  useLayoutEffect(() => {
    if (!session || !place.current) return undefined;
    const made = mount(place.current, session);
    session.show = () => {
      made.updateState(session.state);
      setCount((before) => before + 1);
    };
    session.readInput = () => readInput(made);
    session.composed = () => whenComposed(made);
    setView(made);
    made.focus();
    goTo(made, from);
    // It is asked for by a key, and what is typed next is for its field: it has to be there.
    void import("./more").catch(() => undefined);
    const colours = import("../screens/reading/highlight").then((found) => found.colourCode());
    return () => {
      void colours.then((end) => end()).catch(() => undefined);
      session.show = session.readInput = session.composed = undefined;
      made.destroy();
    };
  }, [session]);
  const shown = changes.value + count;
  return (
    <div
      class="editing"
      data-shown={shown}
      onKeyDown={(event) => {
        // The text has answered to its keys; in the title and at the tools it is the same key.
        const isKeep = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
        if (event.defaultPrevented || !isKeep || event.shiftKey || event.altKey) return;
        event.preventDefault();
        view?.dom.dispatchEvent(new Event("keep"));
      }}
    >
      <h1 id="title" class="unseen" tabIndex={-1}>
        {session?.title ?? node.title}
      </h1>
      {view && session && <Toolbar view={view} state={session.state} />}
      {view && session && <Menus view={view} state={session.state} />}
      {view && isLinking.value && <Linking view={view} />}
      {session?.saving === "refused" && (
        <p class="refused" role="alert">
          {w.refused(session.reason)}
          <button type="button" onClick={() => session.start()}>
            {w.retry}
          </button>
          {session.isOne && (
            <button type="button" onClick={() => session.leaveOut()}>
              {w.leaveOut}
            </button>
          )}
        </p>
      )}
      {view && session && weigh(session.state.doc).foreign > 0 && (
        <Foreign view={view} session={session} doc={session.state.doc} />
      )}
      {session && doubtsOf(session.state).length > 0 && (
        <DoubtfulPlaces session={session} state={session.state} />
      )}
      <input
        class="title-field"
        aria-label={w.title}
        dir="auto"
        maxLength={300}
        value={isBlank ? "" : (session?.title ?? node.title)}
        disabled={!session}
        onInput={(event) => {
          const typed = event.currentTarget.value.replace(/\p{Cc}/gu, " ");
          setBlank(!typed.trim());
          if (!typed.trim()) return;
          void import("./titled")
            .then((part) => part.showTitles(sessions, changes))
            .catch(() => undefined);
          session?.rename(typed);
        }}
        onBlur={() => setBlank(false)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.isComposing) return;
          event.preventDefault();
          view?.focus();
        }}
      />
      <div ref={place} class="editor-place" aria-busy={!session} />
      <p id="editor-keys" class="faint editor-keys">
        {w.editorKeys}
      </p>
    </div>
  );
}
