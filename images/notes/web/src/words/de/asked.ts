/** German, for the dialogs that are fetched when they are opened. */
import type { AskedWords } from "../asked_en";

export const words: AskedWords = {
  inSpace: "Bereich",
  from: "Anfangen mit",
  empty: "Einer leeren Seite",
  copyOf: (title) => `Einer Kopie von „${title}“`,
  template: (title) => `Der Vorlage „${title}“`,
  isTemplate: "Als Vorlage behalten",
  isTemplateText: "Sie wird bei jeder neuen Seite dieses Bereichs angeboten.",
  sharedText: "Text",
  noSpace: "Es gibt keinen Bereich, in dem Sie schreiben dürfen.",
};
