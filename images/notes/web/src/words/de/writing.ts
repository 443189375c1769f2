/** German, for what the editor says seldom, and fetches then. */
import type { WritingWords } from "../writing_en";

const number = (n: number): string => n.toLocaleString("de");

export const words: WritingWords = {
  refusedBy: {
    text: (most) =>
      `Das wurde nicht eingefügt: Eine Seite fasst höchstens ${number(most)} Zeichen. Schreiben Sie auf einer anderen Seite weiter.`,
    nodes: (most) =>
      `Das wurde nicht eingefügt: Eine Seite fasst höchstens ${number(most)} Teile (Blöcke, Listenpunkte, Textstücke). Schreiben Sie auf einer anderen Seite weiter.`,
    levels: (most) =>
      `Das wurde nicht ausgeführt: Listen, Zitate und Tabellen sind höchstens ${number(most)} Ebenen tief.`,
  },
  nearly: {
    text: (percent, most) =>
      `Diese Seite ist zu ${percent} % voll: Sie fasst höchstens ${number(most)} Zeichen.`,
    nodes: (percent, most) =>
      `Diese Seite ist zu ${percent} % voll: Sie fasst höchstens ${number(most)} Teile (Blöcke, Listenpunkte, Textstücke).`,
  },
};
