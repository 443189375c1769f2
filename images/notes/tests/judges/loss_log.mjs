// The words in a text, and what the log of a page has of missing ones: who wrote them, which edit took them away.
import { readFileSync } from 'node:fs';
import { Node, Schema } from 'prosemirror-model';
import { Step } from 'prosemirror-transform';

const schema = new Schema(JSON.parse(readFileSync(new URL('../../web/src/doc/schema.json', import.meta.url))));
const textOf = (doc) => doc.content.content.map((one) => one.textContent).join('\n');

const WORD = /[ab]q\d+z/g;

/** The words in a text. Two who write at one place may write, or break a line, within each other's words. */
export function wordsIn(text) {
  const found = new Set();
  for (let rest = text.replaceAll(/\s/g, ''), words = ['']; words.length; rest = rest.replaceAll(WORD, '')) {
    words = rest.match(WORD) ?? [];
    for (const word of words) found.add(word);
  }
  return found;
}

/**
 * Which of `words` are there letter by letter, with another one begun in each and ended after it: what a tab has left
 * is sent after what others have written at its place meanwhile.
 */
export function crossedIn(text, words) {
  const left = text.split('\n').map((line) => {
    let rest = line.replaceAll(/filler \d+ of \d+|\s/g, '');
    for (let before = ''; before !== rest; rest = rest.replaceAll(WORD, '')) before = rest;
    return rest;
  });
  return words.filter((word) => left.some((line, at) => {
    const rest = withoutLetters(line, word);
    if (rest === undefined) return false;
    left[at] = rest;
    return true;
  }));
}

/** A text without the letters of a word, in their order; undefined where they are not there. */
function withoutLetters(text, word) {
  let rest = '';
  let from = 0;
  for (const letter of word) {
    const at = text.indexOf(letter, from);
    if (at < 0) return undefined;
    rest += text.slice(from, at);
    from = at + 1;
  }
  return rest + text.slice(from);
}

/** The texts that a browser has kept of pages that are gone. */
export function lostTexts({ drafts = [], bases = [] }) {
  return drafts.filter((one) => one.lost).map(({ client, base, passed, steps, title }) => {
    let doc = Node.fromJSON(schema, bases.find((one) => one.client === client && one.base === base).doc);
    for (const json of [...passed, ...steps]) doc = Step.fromJSON(schema, json).apply(doc).doc;
    return `${title}\n${textOf(doc)}`;
  });
}

/** One line for each edit of the log that changes how much of a word there is. */
export async function changesOf(api, page, first, words) {
  let doc = Node.fromJSON(schema, first.doc);
  const said = [];
  const most = (word, text) => {
    for (let length = word.length; length > 1; length -= 1) {
      for (let at = 0; at + length <= word.length; at += 1) if (text.includes(word.slice(at, at + length))) return length;
    }
    return 0;
  };
  for (let from = first; ;) {
    const found = await api('GET', `/nodes/${page}/edits?since=${from.seq}&id=${from.id}`);
    if (!found.is_known) return [...said, `the log has lost ${from.seq} ${from.id}`];
    for (const edit of found.edits) {
      const before = textOf(doc);
      if (edit.steps === null) return [...said, `edit ${edit.seq} replaced the content`];
      for (const json of edit.steps) doc = Step.fromJSON(schema, json).apply(doc).doc;
      const after = textOf(doc);
      for (const word of words) {
        if (most(word, before) === most(word, after)) continue;
        said.push(`${word}: edit ${edit.seq} of ${edit.author_id.slice(0, 4)}, client ${edit.client.slice(0, 4)} n ${edit.n} at ${edit.at}: `
          + `${JSON.stringify(edit.steps)}: from ${JSON.stringify(before)} to ${JSON.stringify(after)}`);
      }
    }
    from = found.edits.at(-1);
    if (!from || from.seq >= found.seq) return said;
  }
}
