/** German, for the dialogs that are fetched when they are opened. */
import type { AskedWords } from "../asked_en";

const rules = new Intl.PluralRules("de");
const count = (n: number, one: string, other: string): string =>
  `${n.toLocaleString("de")} ${rules.select(n) === "one" ? one : other}`;

export const words: AskedWords = {
  inSpace: "Bereich",
  from: "Anfangen mit",
  empty: "Einer leeren Seite",
  copyOf: (title) => `Einer Kopie von „${title}“`,
  template: (title) => `Der Vorlage „${title}“`,
  isTemplate: "Als Vorlage behalten",
  isTemplateText: "Sie wird bei jeder neuen Seite dieses Bereichs angeboten.",
  sharedText: "Text",
  madeHere:
    "Die Seite ist auf diesem Gerät gespeichert. Der Server legt sie an, sobald Sie wieder online sind.",
  notStoredHere:
    "Diese Seite ist nicht auf diesem Gerät gespeichert. Fangen Sie mit einer leeren Seite an.",
  noSpace: "Es gibt keinen Bereich, in dem Sie schreiben dürfen.",
  unsentPages: (n) =>
    `${count(n, "Seite hat", "Seiten haben")} Änderungen oder Dateien, die der Server noch nicht hat.`,
  signOutSend: "Senden, dann abmelden",
  signOutKeep: "Abmelden und auf diesem Gerät behalten",
  stillUnsent:
    "Der Server hat noch nicht alles angenommen. Versuchen Sie es noch einmal, oder behalten Sie sie auf diesem Gerät.",
  signOutAsk: "In diesem Browser abmelden?",
  signOutStored: (n) =>
    `${count(n, "Seite ist", "Seiten sind")} zum Lesen ohne Netz auf diesem Gerät gespeichert. Bis zur nächsten Anmeldung sind sie verborgen.`,
  signOutClear: "Abmelden und löschen",
  expired: "Ihre Anmeldung ist abgelaufen",
  expiredText:
    "Melden Sie sich wieder an, um hier weiterzumachen. Was Sie geschrieben haben, bleibt stehen; was der Server noch nicht hat, ist auf diesem Gerät gespeichert und wird dann gesendet.",
  organisation: "Mit Ihrer Organisation anmelden",
  email: "E-Mail-Adresse",
  password: "Passwort",
  somebodyElse: "Als jemand anderes anmelden",
  signedInAgain: "Sie sind wieder angemeldet.",
  treeKeys: "Im Seitenbaum: bewegen; rechts und links öffnen und schließen",
};
