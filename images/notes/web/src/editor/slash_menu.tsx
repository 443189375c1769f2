/** The menu behind `/`, below the caret: a listbox whose entries the keys of the text choose. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { EditorView } from "prosemirror-view";
import { words } from "../app/words";
import { choose, LIST, point, type Slash } from "./slash";

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

export function SlashMenu({ view, slash }: { view: EditorView; slash: Slash | undefined }) {
  const w = words.value;
  const list = useRef<HTMLDivElement>(null);
  const chosen = slash?.chosen;
  const count = slash?.found.length ?? 0;
  const at = slash?.at;
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
      {slash && count > 0 && (
        <div ref={list} id={LIST} class="blocks choices" role="listbox" aria-label={w.insert}>
          {slash.found.map((block, index) => (
            <div
              key={block.id}
              id={`${LIST}-${block.id}`}
              role="option"
              aria-selected={index === chosen}
              class="choice"
              onMouseDown={(event) => event.preventDefault()}
              onPointerMove={() => index !== chosen && point(view, index)}
              onClick={() => choose(view, block)}
            >
              <span class="choice-text">{block.name}</span>
              {block.sign && <kbd aria-hidden="true">{block.sign}</kbd>}
            </div>
          ))}
        </div>
      )}
      <p class="unseen" role="status" data-blocks={slash ? count : ""}>
        {slash ? w.hits(count) : ""}
      </p>
    </>
  );
}
