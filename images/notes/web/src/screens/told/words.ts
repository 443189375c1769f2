/** The words of the notifications, in the language of the workspace. */
import { effect, signal } from "@preact/signals";
import { catalogue } from "../../app/words";
import { en, type ToldWords } from "../../words/told_en";

export const toldWords = signal<ToldWords>(en);

async function load(language: string): Promise<void> {
  let found = en;
  if (language === "de") found = (await import("../../words/told_de")).words;
  else if (language === "qps") found = (await import("../../words/pseudo")).pseudo(en);
  if (catalogue.value === language) toldWords.value = found;
}

let loading = Promise.resolve();
effect(() => {
  loading = load(catalogue.value);
});

/** Resolves when the catalogue of the language is loaded. */
export const ready = (): Promise<void> => loading;
