/**
 * A handle beside the block under the mouse: who drags it moves the block between other blocks of the
 * page, a click selects it. The keyboard's way is Alt with an arrow key (`move.ts`).
 */
import { dropCursor } from "prosemirror-dropcursor";
import { closeHistory } from "prosemirror-history";
import { type EditorState, NodeSelection } from "prosemirror-state";
import type { Mapping } from "prosemirror-transform";
import type { EditorView } from "prosemirror-view";

interface Place {
  /** The position before the page's block that is found there. */
  at: number;
  dom: HTMLElement;
}

/** The line where a text or a file would be dropped. */
export const dropLine = (view: EditorView) =>
  dropCursor({ class: "drop-cursor", color: false }).spec.view?.(view);

export class Handle {
  readonly #dom = document.createElement("div");
  readonly #line = document.createElement("div");
  readonly #ended = new AbortController();
  /** The block beside which the handle is. */
  #at: number | undefined;
  /** The block that is dragged; null after somebody else has deleted it. */
  #dragged: number | null | undefined;

  constructor(readonly view: EditorView) {
    const dom = this.#dom;
    dom.className = "block-handle";
    dom.draggable = true;
    dom.textContent = "\u2807";
    this.#line.className = "block-line";
    for (const element of [dom, this.#line]) {
      element.ariaHidden = "true";
      element.hidden = true;
      view.dom.parentElement?.append(element);
    }
    const { signal } = this.#ended;
    document.addEventListener("pointermove", this.#follow, { signal });
    document.addEventListener("dragover", this.#over, { signal, capture: true });
    document.addEventListener("drop", this.#drop, { signal, capture: true });
    dom.addEventListener("dragstart", this.#start);
    dom.addEventListener("dragend", this.#end);
    dom.addEventListener("click", this.#choose);
  }

  update(view: EditorView, before: EditorState): void {
    if (view.state.doc === before.doc || this.#dragged !== undefined) return;
    this.#dom.hidden = true;
    this.#at = undefined;
  }

  /** Follows the block that is dragged through the edits of others. */
  map(mapping: Mapping): void {
    if (typeof this.#dragged !== "number") return;
    const found = mapping.mapResult(this.#dragged, 1);
    this.#dragged = found.deletedAfter ? null : found.pos;
  }

  destroy(): void {
    this.#ended.abort();
    this.#dom.remove();
    this.#line.remove();
  }

  #follow = (event: PointerEvent): void => {
    if (event.pointerType === "touch" || event.buttons || this.#dragged !== undefined) return;
    if (event.target === this.#dom) return;
    const text = this.view.dom.getBoundingClientRect();
    const isBeside = event.clientX > text.left - 60 && event.clientX < text.right + 60;
    const found = isBeside ? this.#placeAt(event.clientY) : undefined;
    this.#at = found?.at;
    this.#dom.hidden = found === undefined;
    if (!found) return;
    const style = getComputedStyle(found.dom);
    const half = (Number.parseFloat(style.lineHeight) || 24) / 2;
    const { top } = found.dom.getBoundingClientRect();
    this.#put(this.#dom, top + Number.parseFloat(style.paddingTop) + half);
  };

  #put(element: HTMLElement, top: number): void {
    const around = this.view.dom.parentElement?.getBoundingClientRect().top ?? 0;
    element.style.insetBlockStart = `${top - around}px`;
  }

  /** The page's block at a height; undefined where there is none. */
  #placeAt(top: number): Place | undefined {
    const text = this.view.dom.getBoundingClientRect();
    if (top < text.top || top > text.bottom) return undefined;
    const found = this.view.posAtCoords({ left: text.left + text.width / 2, top });
    if (!found) return undefined;
    const $at = this.view.state.doc.resolve(found.pos);
    const at = $at.depth > 0 ? $at.before(1) : found.inside;
    const dom = at < 0 ? undefined : this.view.nodeDOM(at);
    return dom instanceof HTMLElement ? { at, dom } : undefined;
  }

  #choose = (): void => {
    const { state } = this.view;
    if (this.#at === undefined || !state.doc.nodeAt(this.#at)) return;
    this.view.dispatch(state.tr.setSelection(NodeSelection.create(state.doc, this.#at)));
    this.view.focus();
  };

  #start = (event: DragEvent): void => {
    const node = this.#at === undefined ? null : this.view.state.doc.nodeAt(this.#at);
    const dom = this.#at === undefined ? null : this.view.nodeDOM(this.#at);
    if (!node || !event.dataTransfer) {
      event.preventDefault();
      return;
    }
    event.dataTransfer.setData("text/plain", node.textContent);
    event.dataTransfer.effectAllowed = "move";
    if (dom instanceof HTMLElement) event.dataTransfer.setDragImage(dom, 0, 0);
    this.#dragged = this.#at;
  };

  /** Where the dragged block comes at a height: before or behind the block there. */
  #targetAt(top: number): { pos: number; top: number } | undefined {
    const found = this.#placeAt(top);
    const node = found && this.view.state.doc.nodeAt(found.at);
    if (!found || !node) return undefined;
    const box = found.dom.getBoundingClientRect();
    return top < (box.top + box.bottom) / 2
      ? { pos: found.at, top: box.top }
      : { pos: found.at + node.nodeSize, top: box.bottom };
  }

  #over = (event: DragEvent): void => {
    if (this.#dragged === undefined) return;
    const target = this.#targetAt(event.clientY);
    this.#line.hidden = target === undefined;
    // The editor would show a place of its own, which may be within a text.
    event.stopPropagation();
    if (!target) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "move";
    this.#put(this.#line, target.top);
  };

  #drop = (event: DragEvent): void => {
    const from = this.#dragged;
    if (from === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const target = this.#targetAt(event.clientY);
    const { state } = this.view;
    const node = from === null ? null : state.doc.nodeAt(from);
    this.#end();
    if (!target || !node || from === null) return;
    if (target.pos >= from && target.pos <= from + node.nodeSize) return;
    const { tr } = state;
    tr.delete(from, from + node.nodeSize);
    const pos = tr.mapping.map(target.pos);
    tr.insert(pos, node);
    tr.setSelection(NodeSelection.create(tr.doc, pos));
    this.view.dispatch(closeHistory(tr)); // one step back undoes this drag alone
    this.view.focus();
  };

  #end = (): void => {
    this.#dragged = undefined;
    this.#dom.hidden = this.#line.hidden = true;
  };
}
