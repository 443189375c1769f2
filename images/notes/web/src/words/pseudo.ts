/** A pseudo-language from right to left, for tests: words that no catalogue has stay readable. */
import { en, type Words } from "./en";

const odd = (text: string): string => `⟦${text.replace(/[aeiou]/g, "$&\u0301")}⟧`;

export const pseudo = <T extends object>(from: T): T =>
  Object.fromEntries(
    Object.entries(from).map(([name, word]) => [
      name,
      typeof word === "string"
        ? odd(word)
        : (...given: never[]) => odd((word as (...values: never[]) => string)(...given)),
    ]),
  ) as unknown as T;

export const words: Words = pseudo(en);
