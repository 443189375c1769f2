/**
 * Moves a page by dragging it in the tree: with a mouse at once, by touch after a long press. The
 * keyboard's way is the dialog "Move to…". Loaded with the first press on a row.
 */
import { mayWrite } from "../api/types";
import { type DropPlace, dropPlace } from "../app/drop_place";
import { prefer, preferences } from "../app/preferences";
import { currentSpace, currentTree } from "../app/store";
import { type Row, visibleRows } from "../app/tree_model";
import { movePage } from "./beside/tree_acts";

const MOVES_PX = 6;
const LONG_PRESS_MS = 450;
const OPENS_AFTER_MS = 700;
const EDGE_PX = 36;
const SCROLLS_PX = 12;

let isUnderWay = false;

/** Follows a press on a row; returns at once. */
export function follow(press: PointerEvent, root: HTMLElement): void {
  const from = (press.target as Element).closest<HTMLElement>("[role=treeitem]");
  const space = currentSpace.value;
  if (isUnderWay || press.button !== 0 || !from || !space || !mayWrite(space.role)) return;
  new Drag(press, root, from, from.dataset.id ?? "");
}

class Drag {
  private readonly ended = new AbortController();
  private readonly box: HTMLElement | null;
  private isDragging = false;
  private place: DropPlace | null = null;
  private marked: HTMLElement | null = null;
  private timer = 0;
  private opens: { id: string; timer: number } | null = null;
  private at: { x: number; y: number };

  constructor(
    private readonly press: PointerEvent,
    private readonly root: HTMLElement,
    private readonly from: HTMLElement,
    private readonly id: string,
  ) {
    isUnderWay = true;
    this.at = { x: press.clientX, y: press.clientY };
    this.box = root.closest<HTMLElement>(".sidebar-pages");
    const { signal } = this.ended;
    if (press.pointerType === "touch") this.timer = window.setTimeout(this.begin, LONG_PRESS_MS);
    addEventListener("pointermove", this.move, { signal });
    addEventListener("pointerup", this.drop, { signal });
    addEventListener("pointercancel", this.end, { signal });
    addEventListener("keydown", this.key, { signal, capture: true });
    // A long press would scroll the list, and opens a menu on some devices.
    addEventListener("touchmove", this.hold, { signal, passive: false });
    addEventListener("contextmenu", this.hold, { signal });
    addEventListener("dragstart", this.hold, { signal });
  }

  private readonly begin = (): void => {
    this.isDragging = true;
    this.from.classList.add("dragged");
    this.root.classList.add("dragging");
    navigator.vibrate?.(10);
    this.scroll();
  };

  private readonly hold = (event: Event): void => {
    if (this.isDragging && event.cancelable) event.preventDefault();
  };

  private readonly key = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !this.isDragging) return;
    event.preventDefault();
    event.stopPropagation();
    this.end();
  };

  private readonly move = (event: PointerEvent): void => {
    if (event.pointerId !== this.press.pointerId) return;
    this.at = { x: event.clientX, y: event.clientY };
    const far = Math.hypot(event.clientX - this.press.clientX, event.clientY - this.press.clientY);
    if (!this.isDragging && far > MOVES_PX) {
      if (event.pointerType === "touch") return this.end(); // the list is scrolled
      this.begin();
    }
    if (this.isDragging) this.look();
  };

  /** Finds the row under the pointer, and marks the place there. */
  private look(): void {
    const tree = currentTree.value;
    const under = document
      .elementFromPoint(this.at.x, this.at.y)
      ?.closest<HTMLElement>("[role=treeitem]");
    const row = under && this.root.contains(under) ? this.rowOf(under) : undefined;
    this.place = null;
    if (tree && under && row) {
      const { top, height } = under.getBoundingClientRect();
      this.place = dropPlace(tree, this.id, row, (this.at.y - top) / height);
    }
    this.mark(under && this.place ? under : null);
    this.openLater(
      row && this.place?.how === "into" && row.hasChildren && !row.isOpen ? row : null,
    );
  }

  private rowOf(element: HTMLElement): Row | undefined {
    const tree = currentTree.value;
    const rows = tree ? visibleRows(tree, new Set(preferences.value.open)) : [];
    return rows.find((row) => row.node.id === element.dataset.id);
  }

  private mark(element: HTMLElement | null): void {
    this.marked?.removeAttribute("data-drop");
    this.marked = element;
    if (element && this.place) element.dataset.drop = this.place.how;
  }

  /** Opens a closed page on which the pointer rests. */
  private openLater(row: Row | null): void {
    if (this.opens?.id === row?.node.id) return;
    if (this.opens) clearTimeout(this.opens.timer);
    this.opens = null;
    if (!row) return;
    const { id } = row.node;
    const open = (): void => prefer({ open: [...preferences.value.open, id] });
    this.opens = { id, timer: window.setTimeout(open, OPENS_AFTER_MS) };
  }

  /** Scrolls the list while the pointer is near its upper or lower end. */
  private readonly scroll = (): void => {
    if (!this.isDragging || this.ended.signal.aborted) return;
    const edges = this.box?.getBoundingClientRect();
    if (this.box && edges) {
      const by =
        this.at.y < edges.top + EDGE_PX
          ? -SCROLLS_PX
          : this.at.y > edges.bottom - EDGE_PX
            ? SCROLLS_PX
            : 0;
      if (by) {
        this.box.scrollTop += by;
        this.look();
      }
    }
    requestAnimationFrame(this.scroll);
  };

  private readonly end = (): void => {
    clearTimeout(this.timer);
    this.openLater(null);
    this.mark(null);
    this.from.classList.remove("dragged");
    this.root.classList.remove("dragging");
    this.ended.abort();
    isUnderWay = false;
  };

  private readonly drop = (event: PointerEvent): void => {
    if (event.pointerId !== this.press.pointerId) return;
    const { place, isDragging } = this;
    if (isDragging) ignoreNextClick();
    this.end();
    const from = currentSpace.value?.id;
    if (isDragging && place && from) void movePage(this.id, from, { space: from, ...place });
  };
}

/** The click that follows a drop does not open a page. */
function ignoreNextClick(): void {
  const stop = (event: Event): void => event.stopPropagation();
  addEventListener("click", stop, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }), 50);
}
