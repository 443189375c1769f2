/** The lists behind `/` and `@`, below the caret: listboxes whose entries the keys of the text choose. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { Icon } from "../app/icons";
import { words } from "../app/words";
import { mention } from "./mention";
import type { Entry, Offer } from "./offer";
import { slash } from "./slash";

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

interface ChoicesProps<T extends Entry> {
  view: EditorView;
  state: EditorState;
  offer: Offer<T>;
  label: string;
}

function Choices<T extends Entry>({ view, state, offer, label }: ChoicesProps<T>) {
  const open = offer.of(state);
  const id = offer.kind.list;
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
          {open.found.map((one, index) => (
            <div
              key={one.id}
              id={`${id}-${one.id}`}
              role="option"
              aria-selected={index === chosen}
              class="choice"
              onMouseDown={(event) => event.preventDefault()}
              onPointerMove={() => index !== chosen && offer.point(view, index)}
              onClick={() => offer.choose(view, one)}
            >
              {one.icon && <Icon name={one.icon} />}
              <span class="choice-text" dir="auto">
                {one.name}
              </span>
              {one.aside && <small class="aside">{one.aside}</small>}
              {one.sign && <kbd aria-hidden="true">{one.sign}</kbd>}
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
      <Choices {...{ view, state }} offer={slash} label={w.insert} />
      <Choices {...{ view, state }} offer={mention} label={w.people} />
    </>
  );
}
