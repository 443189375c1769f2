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
  nearly: {
    text: (percent: number, most: number) =>
      `This page is ${percent}% full: it holds at most ${number(most)} characters.`,
    nodes: (percent: number, most: number) =>
      `This page is ${percent}% full: it holds at most ${number(most)} parts (blocks, items, pieces of text).`,
  },
};

export type WritingWords = typeof en;
