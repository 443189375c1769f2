/** Asks the browser not to evict what it stores, when words are there that the server does not have. */
const ASKED = "notes-asked-to-persist";

/** Asks once on this device: a browser may show a question, which nobody wants at each visit. */
export async function askToPersist(): Promise<void> {
  if (localStorage.getItem(ASKED)) return;
  localStorage.setItem(ASKED, "yes");
  if (!(await navigator.storage?.persisted?.())) await navigator.storage?.persist?.();
}
