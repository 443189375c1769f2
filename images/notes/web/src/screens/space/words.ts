/** The words of a space's settings and of the installation's, in the language of the workspace. */
import { effect, signal } from "@preact/signals";
import { catalogue } from "../../app/words";
import { en, type ManageWords } from "../../words/manage_en";

export const manage = signal<ManageWords>(en);

async function load(language: string): Promise<void> {
  let found = en;
  if (language === "de") found = (await import("../../words/manage_de")).words;
  else if (language === "qps") found = (await import("../../words/pseudo")).pseudo(en);
  if (catalogue.value === language) manage.value = found;
}

let loading = Promise.resolve();
effect(() => {
  loading = load(catalogue.value);
});

/** Resolves when the catalogue of the language is loaded. */
export const ready = (): Promise<void> => loading;
