// Opens a long page in Chromium, which draws its beginning first: the rest and its places are there.
// Arguments: the address of a replica; a person and ids as JSON.
import { holds, judge, newPage, signIn } from './chromium.mjs';

const [base, given] = process.argv.slice(2);
const { ada, long, other, rows, blocks } = JSON.parse(given);

const drawn = (page) => page.locator('article .prose > *').count();
const place = (page) => page.evaluate(() => document.getElementById('main').scrollTop);

async function settled(page, look) {
  let last;
  for (let turn = 0; turn < 100; turn += 1) {
    const now = await look(page);
    if (now === last) return now;
    last = now;
    await page.waitForTimeout(100);
  }
  return last;
}

async function until(look) {
  for (let turn = 0; turn < 20; turn += 1) {
    if (await look()) return true;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  return false;
}

/** How far the caret is below the bars of the editor, and above the lower end of the screen; null if it is nowhere. */
const room = (page) => page.evaluate(() => new Promise((done) => {
  const look = () => {
    const range = getSelection().getRangeAt(0);
    const found = range.getClientRects()[0] ?? range.startContainer.getBoundingClientRect?.();
    const bars = document.querySelector('.toolbars').getBoundingClientRect();
    done(found ? [found.top - bars.bottom, innerHeight - found.bottom] : null);
  };
  requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(look), 20));
}));

/** Presses a key often; the worst room that the caret had, and how many steps the page was scrolled. */
async function pressed(page, key, times) {
  let [worst, scrolls, before] = [Infinity, 0, await place(page)];
  for (let turn = 0; turn < times; turn += 1) {
    await page.keyboard.press(key);
    worst = Math.min(worst, ...(await room(page) ?? [-Infinity]));
    const now = await place(page);
    if (now !== before) scrolls += 1;
    before = now;
  }
  return { worst, scrolls };
}

/** The line that is edited is never below the bars, nor below the screen: in the text, in a table, on a phone. */
async function uncovered() {
  for (const [where, size] of [['wide', { width: 1200, height: 700 }], ['on a phone', { width: 390, height: 700 }]]) {
    const { context, page } = await newPage({ bypassCSP: false, viewport: size }, 30_000);
    await signIn(page, base, ada);
    await page.goto(`${base}/w/p/${rows}`);
    await page.getByText('The last line.').waitFor();
    await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
    const text = page.getByRole('textbox', { name: 'Text of the page' });
    await text.waitFor();
    const at = async (words) => {
      await text.getByText(words, { exact: true }).first().evaluate((one) => one.scrollIntoView({ block: 'center' }));
      await text.getByText(words, { exact: true }).first().click();
      await page.waitForTimeout(200);
    };
    await at('Line 60.');
    const up = await pressed(page, 'ArrowUp', 20);
    holds(`${where}, the caret that goes up is not below the bar`, up.worst >= 0 && up.scrolls > 3 || (console.log(up), false));
    const down = await pressed(page, 'ArrowDown', 30);
    holds(`${where}, the caret that goes down stays on the screen`, down.worst >= 0 && down.scrolls > 3 || (console.log(down), false));
    // A wheel has brought the line below the bar; what is typed there is seen.
    await at('Line 60.');
    await text.getByText('Line 60.', { exact: true }).evaluate((one) => {
      const main = document.getElementById('main');
      main.scrollTop += one.getBoundingClientRect().top - main.getBoundingClientRect().top - 2;
    });
    const typed = await pressed(page, 'x', 1);
    holds(`${where}, what is typed below the bar is seen`, typed.worst >= 0 || (console.log(typed), false));
    await page.keyboard.press('Backspace');
    await at('cell 30');
    const rowsUp = await pressed(page, 'Shift+Tab', 40);
    holds(`${where}, so is the caret in a table`, rowsUp.worst >= 0 && rowsUp.scrolls > 3 || (console.log(rowsUp), false));
    await text.getByText('Line 62.', { exact: true }).click();
    await text.getByText('cell 30', { exact: true }).evaluate((one) => {
      const main = document.getElementById('main');
      const bars = document.querySelector('.toolbars').getBoundingClientRect();
      main.scrollTop += one.getBoundingClientRect().top - bars.bottom - 4;
    });
    await text.getByText('cell 30', { exact: true }).click();
    await page.waitForTimeout(200);
    const clicked = await room(page);
    holds(`${where}, the bar of the table does not cover the cell that was clicked`, clicked[0] >= 0 || (console.log(clicked), false));
    await context.close();
  }
}

await judge(async () => {
  const { page } = await newPage({ bypassCSP: false }, 30_000);
  await signIn(page, base, ada);
  await page.addInitScript(() => {
    globalThis.parts = [];
    const look = () => {
      const count = document.querySelectorAll('article .prose > *').length;
      if (count && count !== globalThis.parts.at(-1)) globalThis.parts.push(count);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(`${base}/w/p/${long}`);
  await page.getByText('The last line.').waitFor();
  const server = await page.evaluate(() => globalThis.parts);
  holds('what the server has drawn stays whole', server.join() === `${blocks}`);
  await page.goto(`${base}/w`);
  const link = page.getByRole('treeitem', { name: 'Long' });
  await link.waitFor();
  await page.evaluate(() => { globalThis.parts = []; });
  await link.click();
  await page.getByText('The last line.').waitFor();
  const parts = await page.evaluate(() => globalThis.parts);
  holds('the beginning is drawn before the rest', parts.length === 2 && parts[0] < blocks && parts[1] === blocks);

  await page.goto(`${base}/w/p/${long}#part-9`);
  const heading = page.getByRole('heading', { name: 'Part 9', exact: true });
  await heading.waitFor();
  await settled(page, place);
  holds('an address with an anchor leads to it', await heading.evaluate((one) => one === document.activeElement
    && one.getBoundingClientRect().top >= 0 && one.getBoundingClientRect().top < innerHeight / 2));

  await page.goto(`${base}/w/p/${long}`);
  await page.getByText('The last line.').waitFor();
  await page.getByRole('link', { name: 'Part 8', exact: true }).click();
  const before = await settled(page, place);
  await page.getByRole('link', { name: 'the other page' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Other' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Long' }).waitFor();
  const after = await settled(page, place);
  holds('who comes back is where they were', before > 2000 && Math.abs(after - before) < 50);

  // Away from the anchor that the address has.
  const scrolled = async () => {
    await page.evaluate(() => { document.getElementById('main').scrollTop += 400; });
    // Chromium does not take what is stored while a page is left: the place is stored while one scrolls.
    await page.waitForTimeout(1000);
    return place(page);
  };
  const read = await scrolled();
  const isThere = async () => {
    await page.getByRole('heading', { level: 1, name: 'Long' }).waitFor();
    return until(async () => Math.abs(await settled(page, place) - read) < 50);
  };
  await page.reload();
  holds('a reload shows the place that was read', await isThere());
  await page.goto('about:blank');
  await page.goBack();
  holds('so does the way back from another site', await isThere());
  await page.goto(`${base}/w/p/${other}`);
  await page.getByRole('link', { name: 'Long', exact: true }).first().click();
  await page.getByText('The last line.').waitFor();
  await page.getByRole('link', { name: 'Part 8', exact: true }).click();
  await settled(page, place);
  await scrolled();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Other' }).waitFor();
  await page.goForward();
  holds('so does "forward"', await isThere());

  await page.getByRole('link', { name: 'Part 8', exact: true }).click();
  await settled(page, place);
  await page.keyboard.press('e');
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.waitFor();
  const edited = await settled(page, place);
  const caret = await page.evaluate(() => getSelection().anchorNode.parentElement.closest('.ProseMirror > *').textContent);
  holds('the editor opens where the page was read, with the caret there', edited > 2000 && caret === 'Part 8');
  await page.getByRole('button', { name: 'Done' }).click();
  await text.waitFor({ state: 'detached' });
  const stopped = await settled(page, place);
  holds('who stops editing is where they were', Math.abs(stopped - edited) < 300);
  holds('all of it is there', await drawn(page) === blocks);
  await uncovered();
});
