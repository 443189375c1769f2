// The editor of a page of 1,200 blocks, of which it draws only those near the screen. Prints a line for each
// scenario that holds. Arguments: the addresses of two replicas; users, a token and an id as JSON.
import { accessible, api, docOf, holds, isSaved, judge, ada, bob, first, opened, pages, second, until } from './workspace_tools.mjs';

const BLOCKS = 1200;
const line = (at) => ({ type: 'paragraph', content: [{ type: 'text', text: `block ${at}. ${'word '.repeat(at % 40)}`.trim() }] });
const texts = (doc) => doc.content.map((block) => (block.content ?? []).map((one) => one.text).join(''));
const drawn = (page) => page.evaluate(() => [...document.querySelectorAll('.ProseMirror > *')].filter((one) => one.getClientRects().length).length);
/** The number of the block in the middle of the screen, which one finds in its text. */
const seen = (page) => page.evaluate(() => {
  const { top, height } = document.getElementById('main').getBoundingClientRect();
  const found = [...document.querySelectorAll('.ProseMirror > p')].find((one) => {
    const { bottom, width } = one.getBoundingClientRect();
    return width && bottom > top + height / 2 && one.textContent.includes('block ');
  });
  return Number(/block (\d+)/.exec(found?.textContent)?.[1]);
});
const scrolled = (page, share) => page.evaluate((part) => {
  const main = document.getElementById('main');
  main.scrollTop = main.scrollHeight * part;
}, share);
const settledAt = (page, low, high) => until(async () => {
  const at = await seen(page);
  return at >= low && at <= high;
}, () => seen(page), 10_000);

/** What the browser has stored of this editor's unsent and remembered edits, in bytes, without contents. */
const stored = (page) => page.evaluate(() => new Promise((done) => {
  indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
    const found = {};
    const work = db.transaction(['drafts', 'remembered', 'bases']);
    for (const name of work.objectStoreNames) {
      work.objectStore(name).getAll().onsuccess = (one) => { found[name] = one.target.result.map((o) => JSON.stringify(o)); };
    }
    work.oncomplete = () => { db.close(); done(found); };
  };
}));

/** Ctrl+F searches in the document, and draws the blocks around one hit. */
async function search(page, text, id) {
  const before = texts(await docOf(id));
  const bar = page.getByRole('search');
  const says = (status) => until(async () => await bar.getByRole('status').innerText() === status, () => bar.innerText());
  const isSeen = (words, number) => page.evaluate(([typed, at]) => {
    const found = [...CSS.highlights.get('notes-found-now')].at(-1);
    const { top, bottom } = found.getBoundingClientRect();
    const seen = document.getElementById('main').getBoundingClientRect();
    return found.toString() === typed && found.startContainer.data.startsWith(`block ${at}.`)
      && top > seen.top && bottom < seen.bottom && bottom > top;
  }, [words, number]);
  await page.keyboard.press('Control+f');
  await page.keyboard.type('BLOCK 900.');
  holds('Ctrl+F opens a search that finds a block which was not drawn', await says('1 of 1') && await until(() => isSeen('block 900.', 900)));
  holds('it draws few blocks', await drawn(page) < 400);
  await accessible(page, 'the search in a large page');
  await bar.getByRole('textbox').fill('block');
  const status = () => bar.getByRole('status').innerText();
  const first = await status();
  await page.keyboard.press('Enter');
  await page.keyboard.press('F3');
  await page.keyboard.press('Shift+Enter');
  const next = await status();
  holds('keys go from hit to hit', parseInt(next, 10) === parseInt(first, 10) + 1 && next.endsWith(' of 1,200') && await until(() => isSeen('block', 901), status));
  await bar.getByRole('textbox').fill('no such words');
  holds('it says when there is none', await says('Not in this page'));
  await bar.getByRole('textbox').fill('block 700.');
  await says('1 of 1');
  await page.keyboard.press('Escape');
  holds('Escape ends it', await bar.count() === 0 && await text.evaluate((one) => one === document.activeElement));
  holds('it has changed nothing', JSON.stringify(texts(await docOf(id))) === JSON.stringify(before));
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('found ');
  await isSaved(page);
  holds('the caret is at the hit', texts(await docOf(id)).filter((one) => one.startsWith('found block 700.')).length === 1 && await drawn(page) < 400);
}

async function large() {
  const id = pages.page;
  const { version, title } = await api('GET', `/nodes/${id}`);
  await api('PUT', `/nodes/${id}`, { base_version: version, title, doc: { type: 'doc', content: Array.from({ length: BLOCKS }, (_, at) => line(at)) } });
  const { context, page, text } = await opened(first, ada, id, { bypassCSP: true });
  await text.locator('p').first().waitFor();
  const whole = await page.evaluate(() => document.querySelectorAll('.ProseMirror > *').length);
  const some = await drawn(page);
  holds('all blocks are in the editor, few are drawn', whole === BLOCKS && some > 20 && some < 250);
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('at the top ');
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' at the end');
  await isSaved(page);
  const ends = texts(await docOf(id));
  holds('keys go to the first and the last block', ends[0].startsWith('at the top ') && ends.at(-1).endsWith(' at the end'));
  await scrolled(page, 0.5);
  holds('the middle is drawn when it is scrolled to', await settledAt(page, 450, 750) && await drawn(page) < 400);
  const middle = await seen(page);
  // In its first line: Home goes to the beginning of a line.
  await text.locator('p', { hasText: new RegExp(`^block ${middle}\\.`) }).click({ position: { x: 20, y: 8 } });
  await page.keyboard.press('Home');
  await page.keyboard.type('here ');
  await page.keyboard.press('Enter');
  await isSaved(page);
  const now = texts(await docOf(id));
  holds('a click and keys reach the block that is seen', now.length === BLOCKS + 1 && now[middle] === 'here ' && now[middle + 1].startsWith(`block ${middle}.`));
  await scrolled(page, 0);
  await settledAt(page, 0, 60);
  await page.keyboard.type('away ');
  holds('keys go to the caret, which is seen again', await settledAt(page, middle - 40, middle + 40));
  await isSaved(page);
  holds('and nothing else changes', texts(await docOf(id))[middle + 1].startsWith(`away block ${middle}.`));
  // Whatever is stored with a key does not grow with the page.
  const kept = await stored(page);
  holds('one content is stored, and drafts without it', kept.bases.length === 1
    && [...kept.drafts, ...kept.remembered].every((one) => one.length < 20_000) && kept.bases[0].length > 100_000);
  const other = await opened(second, bob, id);
  await other.page.keyboard.press('Control+Home');
  await other.page.keyboard.type('of bob ');
  await isSaved(other.page);
  holds('what another person writes in a hidden block arrives', await until(async () => (await text.locator('p').first().textContent()).startsWith('of bob at the top')));
  await other.context.close();
  await page.keyboard.press('Control+a');
  const copied = await page.evaluate(() => {
    const data = new DataTransfer();
    document.querySelector('.ProseMirror').dispatchEvent(new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true }));
    return data.getData('text/plain');
  });
  holds('everything is chosen and copied', copied.split('\n\n').length === BLOCKS + 1 && copied.includes(`block ${BLOCKS - 300}.`));
  await page.keyboard.press('Control+Home');
  await page.emulateMedia({ media: 'print' });
  holds('paper gets the whole page', await drawn(page) === BLOCKS + 1);
  await page.emulateMedia({ media: 'screen' });
  await search(page, text, id);
  await page.keyboard.press('Control+f');
  await page.keyboard.press('Control+f');
  holds('the second press leaves it to the browser, which finds all of the page', await drawn(page) === BLOCKS + 1
    && await page.evaluate(() => globalThis.find('block 900.')) && await page.getByRole('search').count() === 0);
  await page.locator('.ProseMirror p').first().click();
  await page.keyboard.type('x');
  holds('the next key ends that', await until(async () => await drawn(page) < 400));
  await isSaved(page);
  await page.evaluate(() => localStorage.setItem('notes-preferences', JSON.stringify({ ...JSON.parse(localStorage.getItem('notes-preferences')), wholePage: true })));
  await page.reload();
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await text.locator('p').first().waitFor();
  holds('a setting shows large pages as a whole', await drawn(page) === BLOCKS + 1);
  await context.close();
}

await judge(large);
