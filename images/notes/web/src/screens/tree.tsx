/**
 * The page tree: an ARIA tree with a roving focus. Beyond 500 rows only those near the visible part
 * are in the document.
 */
import { useComputed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isDrawerOpen } from "../app/layout";
import { Icon } from "../app/icons";
import { fold } from "../app/match";
import { prefer, preferences } from "../app/preferences";
import { go, route } from "../app/router";
import { pageOf, pagePath } from "../app/routes";
import { currentTree } from "../app/store";
import { above, type Row, rowWindow, visibleRows } from "../app/tree_model";
import { words } from "../app/words";

const MOST_OPEN = 400;

function setOpen(id: string, isOpen: boolean): void {
  const others = preferences.value.open.filter((one) => one !== id);
  prefer({ open: (isOpen ? [...others, id] : others).slice(-MOST_OPEN) });
}

export function PageTree({ label }: { label: string }) {
  const root = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState("");
  const [view, setView] = useState({ top: 0, height: 800, row: 32 });
  const current = pageOf(route.value);
  const tree = currentTree.value;
  const open = useComputed(() => new Set(preferences.value.open)).value;
  const rows = tree ? visibleRows(tree, open) : [];

  // The way to the page that is shown is opened when the page changes.
  useEffect(() => {
    if (!tree || !current) return;
    const closed = above(tree, current).filter((node) => !open.has(node.id));
    if (closed.length)
      prefer({
        open: [...preferences.value.open, ...closed.map((node) => node.id)].slice(-MOST_OPEN),
      });
  }, [tree, current]);

  const scroller = (): HTMLElement | null =>
    root.current?.closest<HTMLElement>(".sidebar-pages") ?? null;
  useLayoutEffect(() => {
    const box = scroller();
    if (!box || !root.current) return undefined;
    const measure = (): void => {
      const row = root.current?.querySelector<HTMLElement>("[role=treeitem]")?.offsetHeight || 32;
      const top = box.scrollTop - (root.current?.offsetTop ?? 0);
      setView((old) =>
        old.top === top && old.height === box.clientHeight && old.row === row
          ? old
          : { top, height: box.clientHeight, row },
      );
    };
    measure();
    box.addEventListener("scroll", measure, { passive: true });
    const watched = new ResizeObserver(measure);
    watched.observe(box);
    return () => {
      box.removeEventListener("scroll", measure);
      watched.disconnect();
    };
  }, [rows.length > 0]);

  const find = (id: string): HTMLElement | null =>
    root.current?.querySelector(`[data-id="${id}"]`) ?? null;
  const focusRow = (row: Row | undefined): void => {
    if (!row) return;
    setFocused(row.node.id);
    const known = find(row.node.id);
    const box = scroller();
    if (known || !box || !root.current) {
      // At once: the next key may follow before the next frame.
      known?.focus();
      return;
    }
    box.scrollTop = root.current.offsetTop + rows.indexOf(row) * view.row - box.clientHeight / 2;
    requestAnimationFrame(() => requestAnimationFrame(() => find(row.node.id)?.focus()));
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const id = (event.target as Element).closest<HTMLElement>("[role=treeitem]")?.dataset.id;
    const at = rows.findIndex((row) => row.node.id === id);
    const row = rows[at];
    if (!row) return;
    const isRtl = document.documentElement.dir === "rtl";
    const key =
      isRtl && event.key === "ArrowRight"
        ? "ArrowLeft"
        : isRtl && event.key === "ArrowLeft"
          ? "ArrowRight"
          : event.key;
    const act: Record<string, () => void> = {
      ArrowDown: () => focusRow(rows[at + 1]),
      ArrowUp: () => focusRow(rows[at - 1]),
      Home: () => focusRow(rows[0]),
      End: () => focusRow(rows.at(-1)),
      ArrowRight: () =>
        row.isOpen ? focusRow(rows[at + 1]) : row.hasChildren && setOpen(row.node.id, true),
      ArrowLeft: () =>
        row.isOpen
          ? setOpen(row.node.id, false)
          : focusRow(rows.slice(0, at).findLast((other) => other.level < row.level)),
      Enter: () => visit(row.node.id),
      " ": () => visit(row.node.id),
    };
    const run = act[key];
    if (run) {
      event.preventDefault();
      run();
    } else if (/^[\p{L}\p{N}]$/u.test(event.key)) {
      event.preventDefault();
      const begins = (other: Row): boolean => fold(other.node.title).startsWith(fold(event.key));
      focusRow(rows.slice(at + 1).find(begins) ?? rows.find(begins));
    }
  };

  if (!tree) return <p class="faint pad">{words.value.loading}</p>;
  if (!rows.length) return <p class="faint pad">{words.value.noPages}</p>;
  const shown = rowWindow(rows.length, view.top, view.height, view.row);
  const stop = rows.some((row) => row.node.id === focused)
    ? focused
    : rows.some((row) => row.node.id === current)
      ? current
      : rows[0]?.node.id;
  return (
    <div
      class="tree"
      role="tree"
      aria-label={label}
      ref={root}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        const tree = event.currentTarget;
        // A short press is over before the part is there.
        const over = new AbortController();
        for (const kind of ["pointerup", "pointercancel"])
          addEventListener(kind, () => over.abort(), { signal: over.signal });
        void import("./tree_drag").then((drag) => over.signal.aborted || drag.follow(event, tree));
      }}
      style={{
        paddingBlockStart: `${shown.first * view.row}px`,
        paddingBlockEnd: `${(rows.length - shown.last) * view.row}px`,
      }}
    >
      {rows.slice(shown.first, shown.last).map((row) => (
        <TreeRow
          key={row.node.id}
          row={row}
          isCurrent={row.node.id === current}
          isStop={row.node.id === stop}
          onFocus={() => setFocused(row.node.id)}
        />
      ))}
    </div>
  );
}

function visit(id: string): void {
  isDrawerOpen.value = false;
  go(pagePath(id));
}

interface RowProps {
  row: Row;
  isCurrent: boolean;
  isStop: boolean;
  onFocus: () => void;
}

function TreeRow({ row, isCurrent, isStop, onFocus }: RowProps) {
  const { node } = row;
  const w = words.value;
  const notes = [node.is_template && w.template, node.is_restricted && w.restricted]
    .filter(Boolean)
    .join(", ");
  return (
    <div
      role="treeitem"
      data-id={node.id}
      class={`row${isCurrent ? " current" : ""}`}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-label={notes ? `${node.title}, ${notes}` : node.title}
      {...(row.hasChildren ? { "aria-expanded": row.isOpen } : {})}
      {...(isCurrent ? { "aria-current": "page" as const } : {})}
      tabIndex={isStop ? 0 : -1}
      style={{ "--level": row.level - 1 }}
      title={node.title}
      onFocus={onFocus}
      onClick={() => visit(node.id)}
    >
      {row.hasChildren ? (
        <span
          class={`twist${row.isOpen ? " open" : ""}`}
          onClick={(event) => {
            event.stopPropagation();
            setOpen(node.id, !row.isOpen);
          }}
        >
          <Icon name="chevron" />
        </span>
      ) : (
        <span class="twist leaf" />
      )}
      <span class="row-title" dir="auto">
        {node.title}
      </span>
      {node.is_restricted && <Icon name="lock" />}
    </div>
  );
}
