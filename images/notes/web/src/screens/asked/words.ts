/** The words of the dialogs, in the language of the workspace. */
import { effect, signal } from "@preact/signals";
import { catalogue } from "../../app/words";
import { en, type AskedWords } from "../../words/asked_en";

export const asked = signal<AskedWords>(en);

async function load(language: string): Promise<void> {
  let found = en;
  if (language === "de") found = (await import("../../words/asked_de")).words;
  else if (language === "qps") found = (await import("../../words/pseudo")).pseudo(en);
  if (catalogue.value === language) asked.value = found;
}

let loading = Promise.resolve();
effect(() => {
  loading = load(catalogue.value);
});

/** Resolves when the catalogue of the language is loaded. */
export const ready = (): Promise<void> => loading;
