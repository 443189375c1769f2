/** The toolbar of the editor, one stop of the Tab key, and the room that it takes from the text. */
import { toggleMark } from "prosemirror-commands";
import type { EditorState, NodeSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { words } from "../app/words";
import { tableCommands } from "./blocks";
import { code, heading, line, list, mark, node, quote, redo, undo } from "./keys";
import { isLinking } from "./plugins";
import { insertTable, placeOf } from "./table";
import type { Tool } from "./tool";

function tools(state: EditorState): Tool[] {
  const w = words.value;
  const { $from, from, to, empty } = state.selection;
  const has = (name: string): boolean =>
    empty
      ? mark(name).isInSet(state.storedMarks ?? $from.marks()) !== undefined
      : state.doc.rangeHasMark(from, to, mark(name));
  const marking = (sign: string, name: string, label: string): Tool => ({
    ...{ sign, name: label, run: toggleMark(mark(name)), isOn: has(name) },
  });
  const isIn = (name: string): boolean => {
    for (let depth = $from.depth; depth > 0; depth--)
      if ($from.node(depth).type === node(name)) return true;
    return false;
  };
  const level = $from.parent.type === node("heading") ? $from.parent.attrs.level : 0;
  return [
    ...[1, 2, 3].map((n) => ({
      ...{ sign: `H${n}`, name: w.heading(n), run: heading(n), isOn: level === n },
    })),
    marking("B", "bold", w.bold),
    marking("I", "italic", w.italic),
    marking("S", "strike", w.strike),
    marking("<>", "code", w.code),
    { sign: "↗", name: w.link, run: () => (isLinking.value = true), isOn: has("link") },
    { sign: "•", name: w.bulletList, run: list("bulletList"), isOn: isIn("bulletList") },
    { sign: "1.", name: w.orderedList, run: list("orderedList"), isOn: isIn("orderedList") },
    { sign: "☑", name: w.taskList, run: list("taskList"), isOn: isIn("taskList") },
    { sign: "❝", name: w.quote, run: quote, isOn: isIn("blockquote") },
    { sign: "{ }", name: w.codeBlock, run: code, isOn: isIn("codeBlock") },
    { sign: "―", name: w.rule, run: line },
    { sign: "▦", name: w.table, run: insertTable },
    { sign: "↶", name: w.undo, run: undo },
    { sign: "↷", name: w.redo, run: redo },
  ];
}

const GAP = 8;
const bars = (view: EditorView): HTMLElement | null | undefined =>
  view.dom.closest(".editing")?.querySelector<HTMLElement>(".toolbars");

/** The edges of the screen where the editor shows no caret: the bars lie over the text. */
export const edges = (view: () => EditorView, gap: number) => ({
  ...{ left: gap, right: gap, bottom: gap },
  get top() {
    return (bars(view())?.offsetHeight ?? 0) + gap;
  },
});

/** Keeps what scrolls clear of the bars, and shows the caret that a further bar has just covered. */
function keepClear(view: EditorView): (() => void) | undefined {
  const [main, found] = [document.getElementById("main"), bars(view)];
  if (!main || !found) return undefined;
  const watched = new ResizeObserver(() => {
    const height = found.offsetHeight;
    main.style.scrollPaddingTop = `${height + GAP}px`;
    const { top } = view.coordsAtPos(view.state.selection.head);
    const covered = found.getBoundingClientRect().bottom - top;
    if (covered > 0 && covered <= height) main.scrollTop -= covered + GAP;
  });
  watched.observe(found);
  return () => {
    watched.disconnect();
    main.style.scrollPaddingTop = "";
  };
}

/** The bars above the text; that of tables only while the caret is in one. */
export function Toolbar({ view, state }: { view: EditorView; state: EditorState }) {
  const w = words.value;
  useLayoutEffect(() => keepClear(view), [view]);
  const [isMore, setMore] = useState(false);
  const [part, setPart] = useState<typeof import("./more")>();
  const { node: chosen } = state.selection as Partial<NodeSelection>;
  const picture = chosen?.type === node("image") && chosen.attrs.src;
  useEffect(() => {
    if ((isMore || picture) && !part) import("./more").then(setPart, () => setMore(false));
  }, [isMore, picture]);
  const toggle = (): boolean => {
    setMore(!isMore);
    return true;
  };
  const more = { sign: "⋯", name: w.moreTools, run: toggle, isOn: isMore };
  const ofTable = tableCommands().map(({ name, run }) => ({ sign: name, name, run }));
  return (
    <div class="toolbars">
      <Bar view={view} label={w.formatting} found={[...tools(state), more]} />
      {isMore && part && <Bar view={view} label={w.moreTools} found={part.tools(state)} />}
      {placeOf(state) && <Bar view={view} label={w.table} found={ofTable} />}
      {picture && part && <part.AltText key={picture} view={view} />}
    </div>
  );
}

function Bar({ view, label, found }: { view: EditorView; label: string; found: Tool[] }) {
  const [current, setCurrent] = useState(0);
  const ref = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const rtl = document.documentElement.dir === "rtl" ? -1 : 1;
    const steps: Record<string, number> = { ArrowRight: rtl, ArrowLeft: -rtl };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (current + step + found.length) % found.length;
    setCurrent(next);
    ref.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div ref={ref} class="toolbar" role="toolbar" aria-label={label} onKeyDown={onKeyDown}>
      {found.map((tool, at) => (
        <button
          key={tool.name}
          type="button"
          class={`quiet${tool.isOn ? " on" : ""}`}
          tabIndex={at === current ? 0 : -1}
          aria-label={tool.name}
          title={tool.name}
          {...(tool.isOn === undefined ? {} : { "aria-pressed": tool.isOn })}
          // The selection of the text stays.
          onMouseDown={(event) => event.preventDefault()}
          onFocus={() => setCurrent(at)}
          onClick={() => {
            tool.run(view.state, view.dispatch, view);
            if (!isLinking.value) view.focus();
          }}
        >
          <span data-sign={tool.sign} />
        </button>
      ))}
    </div>
  );
}
