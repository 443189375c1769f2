/** The words of what is done with a text that is read, in the language of the workspace. */
import { effect, signal } from "@preact/signals";
import { catalogue } from "../../app/words";
import { en, type ReadingWords } from "../../words/reading_en";

export const reading = signal<ReadingWords>(en);

async function load(language: string): Promise<void> {
  let found = en;
  if (language === "de") found = (await import("../../words/reading_de")).words;
  else if (language === "qps") found = (await import("../../words/pseudo")).pseudo(en);
  if (catalogue.value === language) reading.value = found;
}

let loading = Promise.resolve();
effect(() => {
  loading = load(catalogue.value);
});

/** Resolves when the catalogue of the language is loaded. */
export const ready = (): Promise<void> => loading;
