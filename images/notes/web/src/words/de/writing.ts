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
  keptVersion: "Als Version gespeichert.",
  keptHere: "In diesem Browser gespeichert; es wird gesendet, sobald der Server erreichbar ist.",
  noFootnote: "Die Fußnote zu diesem Zeichen ist nicht mehr auf der Seite.",
  noReference: "Der Text verweist nicht mehr auf diese Fußnote.",
  foreign: (n) =>
    n === 1
      ? "1 Bild einer anderen Website wird nicht angezeigt"
      : `${number(n)} Bilder anderer Websites werden nicht angezeigt`,
  foreignText:
    "Bilder anderer Websites werden nicht geladen: Deren Betreiber sähen, wer die Seite liest. Öffnen Sie die Adresse, speichern Sie das Bild und wählen Sie hier die Datei, um es in der Seite zu behalten.",
  findHere: "In dieser Seite suchen",
  findNext: "Nächster Treffer",
  findBefore: "Voriger Treffer",
  foundAt: (at, count) => `${number(at)} von ${number(count)}`,
  foundNone: "Nicht in dieser Seite",
  findAgain: (key) => `Noch einmal ${key}: die Suche des Browsers`,
  chooseFile: "Datei wählen",
  showPicture: "Im Text zeigen",
  noPicture: (name) => `${name} ist kein Bild, das sich anzeigen lässt.`,
  nearly: {
    text: (percent, most) =>
      `Diese Seite ist zu ${percent} % voll: Sie fasst höchstens ${number(most)} Zeichen.`,
    nodes: (percent, most) =>
      `Diese Seite ist zu ${percent} % voll: Sie fasst höchstens ${number(most)} Teile (Blöcke, Listenpunkte, Textstücke).`,
  },
};
