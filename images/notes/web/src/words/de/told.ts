/** German, for the notifications. */
import type { ToldWords } from "../told_en";

const rules = new Intl.PluralRules("de");
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString("de")} ${rules.select(n) === "one" ? one : other}`;

export const words: ToldWords = {
  lead: "Was auf Seiten geschieht, die Sie beobachten oder geschrieben haben, und wo jemand Sie nennt.",
  somebody: "Jemand",
  mention: (who, n) =>
    n > 1 ? `${n.toLocaleString("de")} Mal erwähnt, zuletzt von ${who}` : `${who} hat Sie erwähnt`,
  reply: (who, n) =>
    n > 1 ? `${count(n, "Antwort", "Antworten")}, zuletzt von ${who}` : `${who} hat geantwortet`,
  comment: (who, n) =>
    n > 1 ? `${count(n, "Kommentar", "Kommentare")}, zuletzt von ${who}` : `${who} hat kommentiert`,
  edit: (who, n) =>
    n > 1
      ? `${count(n, "neue Version", "neue Versionen")}, zuletzt von ${who}`
      : `${who} hat sie geändert`,
  access: (who) => `${who} hat Ihnen Zugang gegeben`,
  isNew: "Neu",
  read: "Als gelesen markieren",
  readOf: (title) => `Als gelesen markieren: ${title}`,
  readAll: "Alle als gelesen markieren",
  allRead: "Alle Benachrichtigungen sind als gelesen markiert.",
  onlyUnread: "Nur ungelesene",
  nothing: "Es gibt noch nichts.",
  nothingUnread: "Es gibt nichts Ungelesenes.",
  more: "Mehr zeigen",
  kept: "Benachrichtigungen werden 90 Tage aufbewahrt.",
  wanted: "Was Sie erfahren",
};
