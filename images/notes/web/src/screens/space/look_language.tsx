/** The language of the words around the texts of a site's pages. */
import { locale } from "../../app/words";
import { manage } from "./words";

/** A field of a form: one of the languages that a site can have, or the reader's. */
export function LanguageOfSite({
  chosen,
  languages,
}: {
  chosen: string | null;
  languages: string[];
}) {
  const w = manage.value;
  const names = new Intl.DisplayNames(locale.value, { type: "language" });
  return (
    <label class="field">
      {w.siteLanguage}
      <select name="language">
        <option value="" selected={!chosen}>
          {w.languageOfReader}
        </option>
        {languages.map((tag) => (
          <option key={tag} value={tag} selected={tag === chosen}>
            {names.of(tag) ?? tag}
          </option>
        ))}
      </select>
      <small>{w.siteLanguageText}</small>
    </label>
  );
}
