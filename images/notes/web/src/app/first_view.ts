/** The page that the server has drawn in the shell, with its document, for a first paint without script. */

/**
 * Its document, until the workspace is drawn in its place, also while that goes on; null if the shell came without a
 * page, or with one that was drawn for another user than the one that is asked for. `data-since` is the place in the
 * events at which it was read, if the server knew that.
 */
export const firstView = (user?: string): HTMLScriptElement | null =>
  document.querySelector<HTMLScriptElement>(`script[data-user${user ? `="${user}"` : ""}]`);
