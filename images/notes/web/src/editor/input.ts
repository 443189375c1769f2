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
