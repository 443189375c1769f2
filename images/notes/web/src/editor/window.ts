/**
 * Large pages: only the blocks near the screen and near the selection have a layout.
 *
 * The document of the editor stays whole, in its state and in its elements; a style sheet takes the other blocks
 * out of the layout, by their numbers, so that nothing of it passes through the editor. Invariant: the first and the last
 * block, those around both ends of the selection, and those around what was found are always shown: the browser
 * measures and moves there.
 */
import { effect, signal, untracked } from "@preact/signals";
import type { Node } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { isMac } from "../app/keys";
import { preferences } from "../app/preferences";
import { type Around, canMark, FindBar } from "./find_bar";
import { gaps, guess, merged, type Range, styleOf } from "./shown";

/** So many blocks around each end of the selection, and around what was found, are shown. */
const AROUND = 40;
const BLOCKS = ".editor-place > .ProseMirror > ";

/** True while the browser itself searches in the page, which finds only what has a layout. */
const isSearched = signal(false);

export class Window {
  readonly #sheet = new CSSStyleSheet();
  #ranges: Range[] = [];
  #heights = new WeakMap<Node, number>();
  #width = 0;
  #frame = 0;
  #end: () => void;
  #found: number | undefined;
  readonly #bar: FindBar;

  /** A page with fewer than `fewest` blocks is shown as a whole. */
  constructor(
    readonly view: EditorView,
    readonly fewest: number,
    around: Around,
  ) {
    this.#bar = new FindBar(view, around, (block) => {
      if (this.#found === block) return;
      this.#found = block;
      this.#plan();
    });
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
    // Before the first layout, which would be one of all blocks.
    this.#show(view.state, [[0, this.#down(0, 3 * innerHeight)]]);
    document.addEventListener("scroll", this.#soon, true);
    addEventListener("resize", this.#soon);
    addEventListener("keydown", this.#onKey, true);
    this.#soon();
    let isFirst = true;
    this.#end = effect(() => {
      void [preferences.value.wholePage, isSearched.value];
      if (!isFirst) untracked(() => this.#plan());
      isFirst = false;
    });
  }

  update(view: EditorView, before: EditorState): void {
    const { doc } = view.state;
    if (doc !== before.doc) this.#bar.changed();
    if (doc !== before.doc && isSearched.value) isSearched.value = false;
    else if (doc.childCount !== before.doc.childCount || !this.#hasSelection()) this.#plan();
  }

  destroy(): void {
    this.#end();
    this.#bar.close(false);
    cancelAnimationFrame(this.#frame);
    document.removeEventListener("scroll", this.#soon, true);
    removeEventListener("resize", this.#soon);
    removeEventListener("keydown", this.#onKey, true);
    isSearched.value = false;
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((o) => o !== this.#sheet);
  }

  #ends(): number[] {
    const { $anchor, $head } = this.view.state.selection;
    return [$anchor.index(0), $head.index(0)];
  }

  #hasSelection(): boolean {
    if (!this.#ranges.length) return true;
    const last = this.view.state.doc.childCount - 1;
    return this.#ends().every((one) => {
      const at = Math.min(last, one);
      return this.#ranges.some(([from, to]) => at >= from && at <= to);
    });
  }

  #soon = (): void => {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (!this.view.isDestroyed && this.#isBare()) this.#plan();
    });
  };

  /** True if something hidden is within a screen of what is seen, or the width is another one. */
  #isBare(): boolean {
    const width = this.view.dom.clientWidth;
    this.#width ||= width;
    if (width !== this.#width) return true;
    return gaps(this.#ranges).some(([from, to]) => {
      const [top, end] = this.#space(from, to);
      return end > -innerHeight && top < 2 * innerHeight;
    });
  }

  /** Where hidden blocks would be, from the top of the screen. */
  #space(from: number, to: number): [number, number] {
    const { children } = this.view.dom;
    const top = children[from - 1]?.getBoundingClientRect().bottom ?? 0;
    return [top, children[to + 1]?.getBoundingClientRect().top ?? top];
  }

  #plan(): void {
    const { dom, state } = this.view;
    this.#measure();
    const wanted: Range[] = [[this.#at(-2 * innerHeight), this.#at(3 * innerHeight)]];
    for (const upload of dom.querySelectorAll(".upload")) {
      const at = state.doc.resolve(this.view.posAtDOM(upload, 0)).index(0);
      wanted.push([at - 1, at + 1]);
    }
    this.#show(state, wanted);
  }

  #isWhole({ doc }: EditorState): boolean {
    return doc.childCount < this.fewest || preferences.value.wholePage || isSearched.value;
  }

  /** Ctrl+F opens the search in the document, once more the browser's own, for which all blocks are drawn. */
  #onKey = (event: KeyboardEvent): void => {
    const asked = findKey(event);
    const bar = this.#bar;
    const isOthers = document.querySelector("dialog[open]") || this.#isWhole(this.view.state);
    if (!asked || isOthers || (asked === "again" && !bar.isOpen)) return;
    if (!canMark() || (asked === "find" && bar.isOpen && bar.hasFocus)) {
      bar.close(false);
      isSearched.value = true;
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (asked === "find" || !bar.isOpen) bar.open();
    else bar.go(event.shiftKey ? -1 : 1);
  };

  #show(state: EditorState, wanted: readonly Range[]): void {
    const { doc } = state;
    if (this.#isWhole(state)) {
      if (this.#ranges.length) this.#sheet.replaceSync("");
      this.#ranges = [];
      return;
    }
    const ends = [...this.#ends(), ...(this.#found === undefined ? [] : [this.#found])];
    const around = ends.map((at): Range => [at - AROUND, at + AROUND]);
    this.#ranges = merged(doc.childCount, [...wanted, ...around]);
    this.#sheet.replaceSync(styleOf(BLOCKS, this.#ranges, (gap) => this.#sum(gap)));
  }

  #height(at: number): number {
    const node = this.view.state.doc.maybeChild(at);
    if (!node) return 0;
    let found = this.#heights.get(node);
    if (found === undefined) this.#heights.set(node, (found = guess(node)));
    return found;
  }

  #sum([from, to]: Range): number {
    let sum = 0;
    for (let at = from; at <= to; at++) sum += this.#height(at);
    return sum;
  }

  /** The block so many pixels below the beginning of another one. */
  #down(from: number, pixels: number): number {
    const last = this.view.state.doc.childCount - 1;
    let at = from;
    for (let left = pixels; at < last; at++) {
      left -= this.#height(at);
      if (left < 0) break;
    }
    return at;
  }

  /** The block at a distance from the top of the screen, as things are drawn now. */
  #at(y: number): number {
    const { dom, state } = this.view;
    const last = state.doc.childCount - 1;
    const ranges = this.#ranges.length ? this.#ranges : [[0, last] as const];
    for (const [at, [from, to]] of ranges.entries()) {
      const next = ranges[at + 1];
      if ((dom.children[to]?.getBoundingClientRect().bottom ?? 0) > y) {
        let [low, high] = [from, to];
        while (low < high) {
          const middle = (low + high) >> 1;
          if ((dom.children[middle]?.getBoundingClientRect().bottom ?? 0) > y) high = middle;
          else low = middle + 1;
        }
        return low;
      }
      if (!next) break;
      const [top, end] = this.#space(to + 1, next[0] - 1);
      const share = (y - top) / (end - top || 1);
      if (share < 1) return this.#down(to + 1, share * this.#sum([to + 1, next[0] - 1]));
    }
    return last;
  }

  /** Remembers the heights of what is shown, for when it is hidden. */
  #measure(): void {
    const { dom, state } = this.view;
    if (dom.clientWidth !== this.#width) {
      this.#width = dom.clientWidth;
      this.#heights = new WeakMap();
    }
    if (dom.childElementCount !== state.doc.childCount) return;
    for (const [from, to] of this.#ranges) {
      let top = dom.children[from]?.getBoundingClientRect().top ?? 0;
      for (let at = from; at < Math.min(to, state.doc.childCount - 1); at++) {
        const next = dom.children[at + 1]?.getBoundingClientRect().top ?? top;
        this.#heights.set(state.doc.child(at), next - top);
        top = next;
      }
    }
  }
}

/** What a key asks of a search: to find, to go on from hit to hit (F3 also begins), or to go on alone. */
function findKey(event: KeyboardEvent): "find" | "next" | "again" | undefined {
  if (event.key === "F3") return "next";
  if (event.altKey || !(isMac ? event.metaKey : event.ctrlKey)) return undefined;
  const key = event.key.toLowerCase();
  if (key === "f" && !event.shiftKey) return "find";
  return key === "g" ? "again" : undefined;
}
