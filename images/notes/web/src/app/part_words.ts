/** The words of one part of the workspace, in its language. */
import { effect, type Signal, signal } from "@preact/signals";
import { load, type Parts } from "../words/catalogues";
import { catalogue } from "./words";

export interface PartWords<Words> {
  words: Signal<Words>;
  /** Resolves when the catalogue of the language is loaded. */
  ready: () => Promise<void>;
}

/** The words of a part that is loaded when a screen needs it; `en` are those of English. */
export function wordsOf<Part extends keyof Parts>(
  part: Part,
  en: Parts[Part],
): PartWords<Parts[Part]> {
  const words = signal(en);
  let loading = Promise.resolve();
  effect(() => {
    const language = catalogue.value;
    loading = load(part, language, en).then((found) => {
      if (catalogue.value === language) words.value = found;
    });
  });
  return { words, ready: () => loading };
}
