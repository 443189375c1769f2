/** What a person has done and the browser has not yet told. */
import type { EditorView } from "prosemirror-view";

/** Of the library, but not in its types. */
interface Observed {
  domObserver: { flush(): void };
}

/**
 * Takes the browser's selection and text into the state of the view.
 *
 * The browser tells of a moved caret a little later ("selectionchange"). A change from elsewhere that comes
 * between would put the caret back where it was, and what is typed next would go there, or replace what was
 * chosen there. The view must not be in the middle of a change.
 */
export function readInput(view: EditorView): void {
  if (!view.isDestroyed) (view as unknown as Observed).domObserver.flush();
}

/** Does so before a key or the clipboard changes anything; the event goes on. */
export function takeInput(view: EditorView, event: Event): boolean {
  if (!view.composing && !(event as KeyboardEvent).isComposing) readInput(view);
  return false;
}

/** A composition that goes on for longer keeps nothing of others back. */
const COMPOSING_MS = 5000;
/** So long after its end the view has read what was composed. */
const READ_MS = 60;

/** Resolves when no letters are being composed, at the latest after some seconds. */
export async function whenComposed(view: EditorView): Promise<void> {
  if (!view.composing) return;
  await new Promise<void>((done) => {
    const end = (): void => {
      view.dom.removeEventListener("compositionend", soon);
      done();
    };
    const soon = (): void => {
      setTimeout(end, READ_MS);
    };
    view.dom.addEventListener("compositionend", soon);
    setTimeout(end, COMPOSING_MS);
  });
}
