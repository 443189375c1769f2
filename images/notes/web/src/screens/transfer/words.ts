/** The words of import, export, jobs and setup, in the language of the workspace. */
import { wordsOf } from "../../app/part_words";
import { en } from "../../words/transfer_en";

export const { words: transfer, ready } = wordsOf("transfer", en);

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
