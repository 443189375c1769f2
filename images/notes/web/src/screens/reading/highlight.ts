/**
 * Colours the code of the page that is shown, while it is read and while it is edited.
 *
 * The colours are highlights of the browser: they change no element. A browser without them shows plain code.
 */
import { type Kind, tokens } from "../../doc/code";
import { textOfPage } from "../beside/marks";

/** The text is looked at again so long after its last change. */
const AFTER_MS = 300;

interface Highlights {
  set(name: string, highlight: object): void;
  delete(name: string): void;
}
type MakesHighlight = new (...ranges: Range[]) => object;
const KINDS: Kind[] = ["comment", "string", "number", "keyword", "added", "removed"];

const languageOf = (block: HTMLElement): string =>
  block.dataset.language ??
  /language-(\S+)/.exec(block.querySelector("code")?.className ?? "")?.[1] ??
  "";

/** The ranges of each kind in one block of code. */
function addRanges(block: HTMLElement, ranges: Map<Kind, Range[]>): void {
  const language = languageOf(block);
  const text = language ? document.createTreeWalker(block, NodeFilter.SHOW_TEXT) : undefined;
  const nodes: Text[] = [];
  while (text?.nextNode()) nodes.push(text.currentNode as Text);
  let [at, begin] = [0, 0];
  for (const { kind, from, to } of tokens(nodes.map((one) => one.data).join(""), language)) {
    while (nodes[at] && begin + (nodes[at] as Text).data.length <= from) {
      begin += (nodes[at] as Text).data.length;
      at += 1;
    }
    const node = nodes[at];
    if (!node) return;
    const range = document.createRange();
    range.setStart(node, from - begin);
    // A word that others have a caret in has several text nodes: its first part is enough.
    range.setEnd(node, Math.min(node.data.length, to - begin));
    ranges.get(kind)?.push(range);
  }
}

/** Colours the code of the page until it is told to stop. */
export function colourCode(): () => void {
  const { highlights } = CSS as unknown as { highlights?: Highlights };
  const Made = (globalThis as unknown as { Highlight?: MakesHighlight }).Highlight;
  const main = document.getElementById("main");
  if (!highlights || !Made || !main) return () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = (): void => {
    const ranges = new Map<Kind, Range[]>(KINDS.map((kind) => [kind, []]));
    for (const block of textOfPage()?.querySelectorAll("pre") ?? []) addRanges(block, ranges);
    for (const [kind, found] of ranges) {
      if (found.length) highlights.set(`code-${kind}`, new Made(...found));
      else highlights.delete(`code-${kind}`);
    }
  };
  const watched = new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(draw, AFTER_MS);
  });
  watched.observe(main, { childList: true, subtree: true, characterData: true });
  draw();
  return () => {
    watched.disconnect();
    clearTimeout(timer);
    for (const kind of KINDS) highlights.delete(`code-${kind}`);
  };
}
