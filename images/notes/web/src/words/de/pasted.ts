/** German, for what is pasted into the editor. */
import type { PastedWords } from "../pasted_en";

export const words: PastedWords = {
  recognised:
    "Aus dem eingefügten Markdown sind Blöcke geworden. Rücktaste macht wieder Text daraus.",
  tooLong: "Nichts ist eingefügt: Eine Seite fasst höchstens zwei Millionen Zeichen.",
};
