/** German, for what is done with a text that is read. */
import type { ReadingWords } from "../reading_en";

export const words: ReadingWords = {
  enlarge: (name) => (name ? `Bild vergrößern: ${name}` : "Bild vergrößern"),
  picture: "Bild",
  fit: "An das Fenster anpassen",
  actual: "Originalgröße",
  since: (names) =>
    names.length
      ? `Von ${new Intl.ListFormat("de").format(names)} geändert, seit Sie zuletzt hier gelesen haben`
      : "Geändert, seit Sie zuletzt hier gelesen haben",
};
