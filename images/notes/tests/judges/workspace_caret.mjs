// One person clicks, presses keys and types while somebody else writes at the same page without a pause. What is
// typed stands where the person clicked, in one piece, and replaces nothing. Prints a line for each scenario that
// holds. Arguments: the addresses of two replicas, and users, a token and ids as JSON.
import { randomUUID } from 'node:crypto';
import {
  ada, api, docOf, first, holds, isSaved, judge, opened, pages, second, token,
} from './workspace_tools.mjs';

const ROUNDS = Number(process.env.ROUNDS ?? 60);
const [LINES, MOST] = [16, 20];
const { writing } = pages;
let seed = Number(process.env.SEED ?? 1);
const below = (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >>> 8) % n;
};

/** Inserts and deletes points, somewhere in the text, until `isOver`; there are few at a time. */
async function points(isOver) {
  const client = randomUUID();
  let made = 0;
  while (!isOver()) {
    const { doc, seq, id } = await api('GET', `/nodes/${writing}/live`);
    const [places, there] = [[], []];
    let start = 1;
    for (const { content = [] } of doc.content) {
      const text = content.map((one) => one.text).join('');
      places.push(start + below(text.length + 1));
      for (const { index } of text.matchAll(/\./g)) there.push(start + index);
      start += text.length + 2;
    }
    const isMany = there.length > MOST;
    const from = isMany ? there[below(there.length)] : places[below(places.length)];
    const step = isMany ? { from, to: from + 1 } : { from, to: from, slice: { content: [{ type: 'text', text: '.' }] } };
    const answer = await fetch(`${second}/api/v1/nodes/${writing}/edits`, {
      method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ client, n: made + 1, base_seq: seq, base_id: id, steps: [{ stepType: 'replace', ...step }] }) });
    if (answer.ok) made += 1;
    else if (answer.status !== 409) throw new Error(`${answer.status} ${await answer.text()}`);
  }
  return made;
}

const linesOf = (doc) => doc.content.map((one) => (one.content ?? []).map(({ text }) => text).join('').replaceAll('.', ''));

const pieces = (text) => text.match(/[^-]*-|[^-]+$/g) ?? [];

async function typing() {
  const { page } = await opened(first, ada, writing);
  const wire = await page.context().newCDPSession(page);
  await wire.send('Emulation.setCPUThrottlingRate', { rate: Number(process.env.SLOWER ?? 1) });
  const wanted = Array.from({ length: LINES }, () => ({ before: [], after: [] }));
  let isRight = true;
  let isOver = false;
  const others = points(() => isOver);
  const line = (at) => page.locator('.ProseMirror > p').nth(at);
  const click = async (at) => {
    const { width } = await line(at).boundingBox();
    await line(at).click({ position: { x: width - 5, y: 5 } });
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const at = below(LINES);
    if (below(3) === 0) {
      // A line that is chosen before, and left alone.
      await click(below(LINES));
      await page.keyboard.press('Home');
      await page.keyboard.press('Shift+End');
    }
    await click(at);
    const key = ['Home', 'End', ''][below(3)];
    if (key) await page.keyboard.press(key);
    const word = `${round.toString(36)}-`;
    await page.keyboard.type(word, { delay: below(3) * 8 });
    wanted[at][key === 'Home' ? 'before' : 'after'].push(word);
  }
  isOver = true;
  const made = await others;
  console.log(`${made} edits of somebody else`);
  holds('somebody else wrote all the time', made > ROUNDS / 3);
  await isSaved(page);
  const found = linesOf(await docOf(writing));
  // Words on both sides of a point may change their order when somebody else deletes it.
  const sorted = (words) => [...words].sort().join('');
  for (const [at, { before, after }] of wanted.entries()) {
    const [first = '', last = ''] = (found[at] ?? '').split(`line ${at}:`);
    if (sorted(pieces(first)) === sorted(before) && sorted(pieces(last)) === sorted(after)) continue;
    console.log(`line ${at}: ${found[at]}, not ${before.join('')} before and ${after.join('')} after`);
    isRight = false;
  }
  holds('what is typed stands where its person clicked', isRight && found.length === LINES);
}

await judge(typing);
