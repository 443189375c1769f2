/** German, for texts and files whose pages are gone. */
import type { LostWords } from "../lost_en";

export const words: LostWords = {
  texts: (n) =>
    n === 1
      ? "Eine Seite, auf der Sie geschrieben haben, gibt es nicht mehr, oder Sie dürfen dort nicht mehr schreiben. Ihr Text ist in diesem Browser gespeichert."
      : `${n.toLocaleString("de")} Seiten, auf denen Sie geschrieben haben, gibt es nicht mehr, oder Sie dürfen dort nicht mehr schreiben. Ihre Texte sind in diesem Browser gespeichert.`,
  damaged:
    "Was dieser Browser von der Seite gespeichert hat, ist beschädigt oder von einer anderen Fassung der Oberfläche. Diese Wörter von Ihnen sind nicht gesendet.",
  damagedTexts: (n) =>
    n === 1
      ? "Ein Text, den Sie geschrieben haben, lässt sich nicht auf seine Seite bringen. Seine Wörter sind in diesem Browser gespeichert."
      : `Texte, die Sie auf ${n.toLocaleString("de")} Seiten geschrieben haben, lassen sich nicht dorthin bringen. Ihre Wörter sind in diesem Browser gespeichert.`,
  wholeText: (title) => `Der Text von „${title}“`,
  inSpace: "Speichern im Bereich",
  saveAsNew: "Als neue Seite speichern",
  saved: (title) => `„${title}“ ist als neue Seite gespeichert.`,
  saveAsFile: "Als Datei speichern",
  textSaved: (name) =>
    `${name} ist unter Ihren Downloads. Der Text bleibt in diesem Browser, bis Sie ihn aufgeben.`,
  elsewhere: "Ein anderer Tab hat diesen Text gespeichert oder aufgegeben.",
  noSpace: "Es gibt keinen Bereich, in dem Sie Seiten anlegen dürfen.",
  giveUp: "Aufgeben",
  giveUpAsk: (title, files) =>
    files
      ? `Ihren Text von „${title}“ aus diesem Browser löschen, mit ${files === 1 ? "der Datei, die Sie dort eingefügt haben" : `den ${files.toLocaleString("de")} Dateien, die Sie dort eingefügt haben`}?`
      : `Ihren Text von „${title}“ aus diesem Browser löschen?`,
  givenUp: "Der Text ist gelöscht.",
  files: (n) =>
    n === 1
      ? "Eine Datei, die Sie auf einer Seite eingefügt haben, lässt sich nicht dorthin bringen. Sie ist in diesem Browser gespeichert."
      : `${n.toLocaleString("de")} Dateien, die Sie auf Seiten eingefügt haben, lassen sich nicht dorthin bringen. Sie sind in diesem Browser gespeichert.`,
  takesNone: "Die Seite ist im Papierkorb, oder Sie dürfen dort nicht mehr schreiben.",
  noBytes: (name) => `Dieser Browser hatte keinen Platz für ${name}.`,
  fileSaved: (name) => `${name} ist unter Ihren Downloads.`,
  deleteFile: "Löschen",
  deleteFileAsk: (name) => `${name} aus diesem Browser löschen?`,
  fileDeleted: "Die Datei ist gelöscht.",
};
