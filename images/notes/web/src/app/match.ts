/** Finds titles and commands by what is typed. Decides from the texts alone. */

export interface Candidate {
  id: string;
  text: string;
  folded: string;
}

export interface Match {
  id: string;
  score: number;
}

/** The text without case and accents, so that "uber" finds "Über". */
export function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

export const candidate = (id: string, text: string): Candidate => ({
  id,
  text,
  folded: fold(text),
});

/** The best matches first: all typed words occur, beginnings of words count more. */
export function match(candidates: readonly Candidate[], typed: string, limit: number): Match[] {
  const words = fold(typed).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found: Match[] = [];
  for (const one of candidates) {
    const score = scoreOf(one.folded, words);
    if (score > 0) found.push({ id: one.id, score });
  }
  return found.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1)).slice(0, limit);
}

function scoreOf(folded: string, words: string[]): number {
  let score = 0;
  for (const word of words) {
    const at = folded.indexOf(word);
    if (at < 0) return 0;
    const begins =
      at === 0 || !/[\p{L}\p{N}]/u.test(folded[at - 1] ?? "") || folded.includes(` ${word}`);
    score += (begins ? 10 : 2) + (at === 0 ? 5 : 0) + word.length / (folded.length + 1);
  }
  return folded === words.join(" ") ? score + 100 : score;
}

export interface Piece {
  text: string;
  hit: boolean;
}

/** The text in pieces, with the typed words marked. */
export function marked(text: string, typed: string): Piece[] {
  const folded = fold(text);
  const words = fold(typed).split(/\s+/).filter(Boolean);
  // Where folding changes the length, positions would be wrong: then nothing is marked.
  if (folded.length !== text.length || !words.length) return [{ text, hit: false }];
  const hits = new Array<boolean>(text.length).fill(false);
  for (const word of words) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      hits.fill(true, at, at + word.length);
    }
  }
  const pieces: Piece[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const hit = hits[at] ?? false;
    const last = pieces.at(-1);
    if (last && last.hit === hit) last.text += text[at] ?? "";
    else pieces.push({ text: text[at] ?? "", hit });
  }
  return pieces;
}

/** The part of a text around the first typed word, marked; undefined if a word does not occur. */
export function excerpt(text: string, typed: string, around = 80): Piece[] | undefined {
  const folded = fold(text);
  const words = fold(typed).split(/\s+/).filter(Boolean);
  if (!words.length || !words.every((word) => folded.includes(word))) return undefined;
  const at = folded.indexOf(words[0] ?? "");
  const from = Math.max(0, at - around);
  return marked(text.slice(from, at + 2 * around), typed);
}
