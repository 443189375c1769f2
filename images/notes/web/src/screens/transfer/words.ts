/** The words of import, export, jobs and setup, in the language of the workspace. */
import { effect, signal } from "@preact/signals";
import { catalogue } from "../../app/words";
import { en, type TransferWords } from "../../words/transfer_en";

export const transfer = signal<TransferWords>(en);

async function load(language: string): Promise<void> {
  let found = en;
  if (language === "de") found = (await import("../../words/transfer_de")).words;
  else if (language === "qps") {
    const made = (await import("../../words/pseudo")).pseudo(en);
    found = { ...made, patterns: en.patterns };
  }
  if (catalogue.value === language) transfer.value = found;
}

let loading = Promise.resolve();
effect(() => {
  loading = load(catalogue.value);
});

/** Resolves when the catalogue of the language is loaded. */
export const ready = (): Promise<void> => loading;

/** A remark or an error of the server in the language of the workspace, if the catalogue has it. */
export function remark(text: string): string {
  const { remarks, patterns } = transfer.value;
  const whole = remarks[text];
  if (whole !== undefined) return whole;
  for (const [pattern, translated] of patterns) {
    const found = new RegExp(pattern, "s").exec(text);
    if (found)
      return translated.replace(/\$(\d)/g, (_, at: string) => remark(found[Number(at)] ?? ""));
  }
  return text;
}
