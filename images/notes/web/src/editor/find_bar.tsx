/**
 * The search within a large page, whose blocks are not all drawn: the browser's own would find only some of them.
 *
 * It searches in the document, and draws the blocks around one hit at a time. Invariant: the text and the caret stay as
 * they are until it is closed; then the hit is selected.
 */
import { render } from "preact";
import type { EditorView } from "prosemirror-view";
import { Icon } from "../app/icons";
import { keyName } from "../app/keys";
import { words } from "../app/words";
import { en, type WritingWords } from "../words/writing_en";
import { Finder, firstFrom } from "./found";

/** Hits in so many blocks around the one that is shown are marked. */
const MARKED = 40;
const [SOME, NOW] = ["notes-found", "notes-found-now"];
interface Highlights {
  set(name: string, highlight: object): void;
  delete(name: string): void;
}
type MakesHighlight = new (...ranges: Range[]) => object;
const highlights = (): Highlights | undefined =>
  (CSS as unknown as { highlights?: Highlights }).highlights;
const Made = (): MakesHighlight =>
  (globalThis as unknown as { Highlight: MakesHighlight }).Highlight;

/** False in a browser that could not show a hit: there the whole page is drawn, for its own search. */
export const canMark = (): boolean => highlights() !== undefined;

/** Given, not imported: this chunk imports nothing of the editor, which that would split. */
export interface Around {
  words: (en: WritingWords) => Promise<WritingWords>;
  /** Selects a part of the text. */
  select: (view: EditorView, from: number, to: number) => void;
}

export class FindBar {
  readonly #host = document.createElement("div");
  readonly #finder = new Finder();
  #words = en;
  #typed = "";
  #hits: number[] = [];
  #at = 0;
  #frame = 0;

  constructor(
    readonly view: EditorView,
    readonly around: Around,
    /** Draws the blocks around one; undefined if there is none any more. */
    readonly reveal: (block: number | undefined) => void,
  ) {
    around.words(en).then(
      (found) => (this.#words = found),
      () => undefined,
    );
  }

  get isOpen(): boolean {
    return this.#host.isConnected;
  }

  get hasFocus(): boolean {
    return this.#host.contains(document.activeElement);
  }

  open(): void {
    this.view.dom.before(this.#host);
    this.#draw();
    const field = this.#host.querySelector("input");
    field?.focus();
    field?.select();
    this.#search();
  }

  /** Ends the search; `isSelecting` puts the caret where the hit is. */
  close(isSelecting: boolean): void {
    if (!this.isOpen) return;
    const [from, to] = this.#hit();
    cancelAnimationFrame(this.#frame);
    render(null, this.#host);
    this.#host.remove();
    for (const name of [SOME, NOW]) highlights()?.delete(name);
    if (isSelecting) {
      if (from !== undefined && to !== undefined) this.around.select(this.view, from, to);
      this.view.focus();
    }
    this.reveal(undefined);
  }

  /** Goes to the next hit, or by -1 to the one before, around the ends of the page. */
  go(step: number): void {
    const count = this.#hits.length / 2;
    if (!count) return;
    this.#at = (this.#at + step + count) % count;
    this.#show();
  }

  /** Searches again after a change of the document, without moving what is seen. */
  changed(): void {
    if (!this.isOpen) return;
    const [before] = this.#hit();
    const { length } = this.#hits;
    this.#hits = this.#finder.find(this.view.state.doc, this.#typed);
    // As many as before: the change was elsewhere, and the hit has kept its number.
    if (length !== this.#hits.length) this.#at = firstFrom(this.#hits, before ?? 0);
    this.#mark();
    this.#draw();
  }

  #hit(): [from?: number, to?: number] {
    return this.#hits.slice(2 * this.#at, 2 * this.#at + 2) as [number?, number?];
  }

  #search(): void {
    const { doc, selection } = this.view.state;
    const [before] = this.#hit();
    this.#hits = this.#finder.find(doc, this.#typed);
    this.#at = firstFrom(this.#hits, before ?? selection.from);
    this.#show();
  }

  #show(): void {
    const range = this.#mark();
    this.#draw();
    cancelAnimationFrame(this.#frame);
    if (range) this.#scroll(range, 3);
  }

  /** Draws and marks the hit and those around it; returns the range of the hit. */
  #mark(): Range | undefined {
    const { doc } = this.view.state;
    const [from, to] = this.#hit();
    for (const name of [SOME, NOW]) highlights()?.delete(name);
    if (from === undefined || to === undefined) {
      this.reveal(undefined);
      return undefined;
    }
    const block = doc.resolve(from).index(0);
    this.reveal(block);
    const start = doc.resolve(0);
    const first = start.posAtIndex(Math.max(0, block - MARKED));
    const last = start.posAtIndex(Math.min(doc.childCount, block + MARKED));
    const near: Range[] = [];
    for (let at = firstFrom(this.#hits, first); at < this.#hits.length / 2; at++) {
      const begin = this.#hits[2 * at] ?? last;
      if (begin >= last) break;
      if (at !== this.#at) near.push(this.#range(begin, this.#hits[2 * at + 1] ?? begin));
    }
    const range = this.#range(from, to);
    highlights()?.set(SOME, new (Made())(...near));
    highlights()?.set(NOW, new (Made())(range));
    return range;
  }

  #range(from: number, to: number): Range {
    const range = document.createRange();
    const [begin, end] = [this.view.domAtPos(from, 1), this.view.domAtPos(to, -1)];
    range.setStart(begin.node, begin.offset);
    range.setEnd(end.node, end.offset);
    return range;
  }

  /** Brings the hit into the screen; again in the next frames, since blocks above get their heights only then. */
  #scroll(range: Range, times: number): void {
    const main = document.getElementById("main");
    if (!main) return;
    const [seen, hit] = [main.getBoundingClientRect(), range.getBoundingClientRect()];
    // Not below the tools and this bar.
    if (hit.top < seen.top + seen.height / 5 || hit.bottom > seen.bottom - seen.height / 8)
      main.scrollTop += hit.top - seen.top - seen.height / 3;
    if (times) this.#frame = requestAnimationFrame(() => this.#scroll(range, times - 1));
  }

  #draw(): void {
    const [w, count] = [this.#words, this.#hits.length / 2];
    const status = !this.#typed ? "" : count ? w.foundAt(this.#at + 1, count) : w.foundNone;
    const button = (name: string, sign: string, step: number) => (
      <button type="button" aria-label={name} disabled={!count} onClick={() => this.go(step)}>
        {sign}
      </button>
    );
    render(
      <form
        class="find-bar"
        role="search"
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => this.#onKey(event)}
      >
        <input
          type="text"
          aria-label={w.findHere}
          placeholder={w.findHere}
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          value={this.#typed}
          onInput={(event) => {
            this.#typed = event.currentTarget.value;
            this.#search();
          }}
        />
        <span role="status">{status}</span>
        {button(w.findBefore, "↑", -1)}
        {button(w.findNext, "↓", 1)}
        <button type="button" aria-label={words.value.close} onClick={() => this.close(true)}>
          <Icon name="close" />
        </button>
        <small>{w.findAgain(keyName("Mod+f"))}</small>
      </form>,
      this.#host,
    );
  }

  #onKey(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const isField = event.target instanceof HTMLInputElement;
    if (event.key === "Enter" && isField) this.go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") this.close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
