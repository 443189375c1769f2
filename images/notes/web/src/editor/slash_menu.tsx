/** The lists behind `/` and `@`, below the caret: listboxes whose entries the keys of the text choose. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { words } from "../app/words";
import { mention, mentionOf, PEOPLE, pointMention } from "./mention";
import { choose, LIST, point, slashOf } from "./slash";

const GAP = 6;

/** Places the list below the line of the `/`, or above it where there is more room. */
function place(list: HTMLElement, view: EditorView, at: number): void {
  const line = view.coordsAtPos(at);
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.max(GAP, Math.min(line.left, innerWidth - width - GAP));
  const isBelow = line.bottom + GAP + height <= innerHeight || line.top < height;
  const top = isBelow ? line.bottom + GAP : line.top - GAP - height;
  list.style.left = `${left}px`;
  list.style.top = `${Math.max(GAP, Math.min(top, innerHeight - height - GAP))}px`;
}

interface Entry {
  id: string;
  name: string;
  sign?: string;
}

interface ChoicesProps<T extends Entry> {
  view: EditorView;
  /** The id of the listbox. */
  id: string;
  label: string;
  /** Absent while it is closed. */
  open: { at: number; chosen: number; found: T[] } | undefined;
  point: (view: EditorView, chosen: number) => void;
  choose: (view: EditorView, one: T) => void;
}

function Choices<T extends Entry>({ view, id, label, open, point, choose }: ChoicesProps<T>) {
  const w = words.value;
  const list = useRef<HTMLDivElement>(null);
  const chosen = open?.chosen;
  const count = open?.found.length ?? 0;
  const at = open?.at;
  useLayoutEffect(() => {
    const follow = (): void => {
      if (list.current && at !== undefined) place(list.current, view, at);
    };
    follow();
    // The text may scroll below the menu.
    addEventListener("scroll", follow, true);
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow, true);
      removeEventListener("resize", follow);
    };
  }, [at, count]);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen, count]);
  return (
    <>
      {open && count > 0 && (
        <div ref={list} id={id} class="blocks choices" role="listbox" aria-label={label}>
          {open.found.map((block, index) => (
            <div
              key={block.id}
              id={`${id}-${block.id}`}
              role="option"
              aria-selected={index === chosen}
              class="choice"
              onMouseDown={(event) => event.preventDefault()}
              onPointerMove={() => index !== chosen && point(view, index)}
              onClick={() => choose(view, block)}
            >
              <span class="choice-text" dir="auto">
                {block.name}
              </span>
              {block.sign && <kbd aria-hidden="true">{block.sign}</kbd>}
            </div>
          ))}
        </div>
      )}
      <p class="unseen" role="status" data-count-of={id}>
        {open ? w.hits(count) : ""}
      </p>
    </>
  );
}

/** Both lists, for a state: without a new one, signals would keep what is drawn. */
export function Menus({ view, state }: { view: EditorView; state: EditorState }) {
  const w = words.value;
  return (
    <>
      <Choices {...{ view, point, choose }} id={LIST} label={w.insert} open={slashOf(state)} />
      <Choices
        view={view}
        id={PEOPLE}
        label={w.people}
        open={mentionOf(state)}
        point={pointMention}
        choose={mention}
      />
    </>
  );
}
