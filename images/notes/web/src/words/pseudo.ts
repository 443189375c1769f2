/** A pseudo-language from right to left, for tests: words that no catalogue has stay readable. */
const odd = (text: string): string => `⟦${text.replace(/[aeiou]/g, "$&\u0301")}⟧`;

const oddly = (word: unknown): unknown => {
  if (typeof word === "string") return odd(word);
  if (typeof word === "function")
    return (...given: never[]) => odd((word as (...values: never[]) => string)(...given));
  return word !== null && typeof word === "object" && !Array.isArray(word) ? pseudo(word) : word;
};

export const pseudo = <T extends object>(from: T): T =>
  Object.fromEntries(
    Object.entries(from).map(([name, word]) => [name, oddly(word)]),
  ) as unknown as T;
