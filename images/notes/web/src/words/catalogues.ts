/** The catalogues: a language is a folder here, which `Language` describes; English is beside it. */
import type { AdminWords } from "./admin_en";
import type { AroundWords } from "./around_en";
import type { AskedWords } from "./asked_en";
import type { BesideWords } from "./beside_en";
import type { LostWords } from "./lost_en";
import type { ManageWords } from "./manage_en";
import type { PastedWords } from "./pasted_en";
import type { ReadingWords } from "./reading_en";
import type { ToldWords } from "./told_en";
import type { TransferWords } from "./transfer_en";
import type { Words } from "./en";
import type { WritingWords } from "./writing_en";

export interface Parts {
  app: Words;
  admin: AdminWords;
  around: AroundWords;
  asked: AskedWords;
  beside: BesideWords;
  lost: LostWords;
  manage: ManageWords;
  pasted: PastedWords;
  reading: ReadingWords;
  told: ToldWords;
  transfer: TransferWords;
  writing: WritingWords;
}

/** The `index.ts` of a folder exports one: each part's words, loaded when a screen needs them. */
export type Language = { [Part in keyof Parts]: () => Promise<{ words: Parts[Part] }> };

/** The folders; the build puts them here. */
declare const LANGUAGES: readonly string[];

/** The languages that the workspace is in. */
export const languages: readonly string[] = ["en", ...LANGUAGES];

/** The words of a part in a language; `en` are those of English. "qps" is the pseudo-language. */
export async function load<Part extends keyof Parts>(
  part: Part,
  language: string,
  en: Parts[Part],
): Promise<Parts[Part]> {
  if (language === "en") return en;
  if (language === "qps") return (await import("./pseudo")).pseudo(en);
  const found: { language: Language } = await import(`./${language}/index.ts`);
  return (await found.language[part]()).words;
}

/** The language's own name for itself. */
export const nameOf = (language: string): string =>
  new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
