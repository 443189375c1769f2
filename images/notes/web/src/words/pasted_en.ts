/** English, for what is pasted into the editor. */
export const en = {
  recognised: "The pasted Markdown has become blocks. Backspace makes it text again.",
  tooLong: "Nothing is pasted: a page holds at most two million characters.",
};

export type PastedWords = typeof en;
