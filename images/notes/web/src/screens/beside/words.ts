/** The words of what is beside a page, in the language of the workspace. */
import { effect, signal } from "@preact/signals";
import { catalogue } from "../../app/words";
import { type BesideWords, en } from "../../words/beside_en";

export const beside = signal<BesideWords>(en);

async function load(language: string): Promise<void> {
  let found = en;
  if (language === "de") found = (await import("../../words/beside_de")).words;
  else if (language === "qps") found = (await import("../../words/pseudo")).pseudo(en);
  if (catalogue.value === language) beside.value = found;
}

let loading = Promise.resolve();
effect(() => {
  loading = load(catalogue.value);
});

/** Resolves when the catalogue of the language is loaded. */
export const ready = (): Promise<void> => loading;
