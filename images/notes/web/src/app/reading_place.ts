/** Finds where the reader of a page is, so that its editor opens there. */

/** The number of the first block that is seen, from 0: 0 as well at the top of a page, and without one. */
export function firstBlockSeen(): number {
  const main = document.getElementById("main");
  if (!main?.scrollTop) return 0;
  const top = main.getBoundingClientRect().top;
  const blocks = [...main.querySelectorAll("article .prose > *")];
  return Math.max(
    0,
    blocks.findIndex((one) => one.getBoundingClientRect().bottom > top),
  );
}
