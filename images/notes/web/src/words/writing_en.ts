/** English, for what the editor says seldom, and fetches then. */

const number = (n: number): string => n.toLocaleString("en");

export const en = {
  refusedBy: {
    text: (most: number) =>
      `That was not inserted: a page holds at most ${number(most)} characters. Go on in another page.`,
    nodes: (most: number) =>
      `That was not inserted: a page holds at most ${number(most)} parts (blocks, items, pieces of text). Go on in another page.`,
    levels: (most: number) =>
      `That was not done: lists, quotes and tables are at most ${number(most)} levels deep.`,
  },
  keptVersion: "Saved as a version.",
  keptHere: "Kept in this browser, and sent when the server is reached.",
  noFootnote: "The footnote of this sign is not in the page any more.",
  noReference: "The text does not refer to this footnote any more.",
  foreign: (n: number) =>
    n === 1
      ? "1 picture of another site is not shown"
      : `${number(n)} pictures of other sites are not shown`,
  foreignText:
    "Pictures of other sites are not loaded: their owners would see who reads the page. Open the address, save the picture, and choose the file here to keep it in the page.",
  findHere: "Find in this page",
  findNext: "Next hit",
  findBefore: "Previous hit",
  foundAt: (at: number, count: number) => `${number(at)} of ${number(count)}`,
  foundNone: "Not in this page",
  findAgain: (key: string) => `${key} once more: the browser's own search`,
  chooseFile: "Choose the file",
  showPicture: "Show in the text",
  noPicture: (name: string) => `${name} is no picture that can be shown.`,
  nearly: {
    text: (percent: number, most: number) =>
      `This page is ${percent}% full: it holds at most ${number(most)} characters.`,
    nodes: (percent: number, most: number) =>
      `This page is ${percent}% full: it holds at most ${number(most)} parts (blocks, items, pieces of text).`,
  },
};

export type WritingWords = typeof en;
