// Measures the tree of a space with 5,000 pages, and the palette with the titles of 10,000; bench/places.py runs it.
// Arguments: the address of a replica; a user, the ids of two spaces, some titles as JSON; parts. Prints a line of
// JSON for each figure.
import { chromium } from 'playwright-core';
import { OPTIONS, opened, pressed, quantile, signIn, watchKeys } from './editor_figures.mjs';

const [base, given, parts] = process.argv.slice(2);
const { ada, large, other, titles } = JSON.parse(given);
const KEYS = 40;
/** Longer than the palette's own pause, so that each key asks the server. */
const ASKED_MS = 400;
const tell = (name, value, unit, note = '') => console.log(JSON.stringify({ name, value, unit, note }));
const rows = (page) => page.getByRole('tree').getByRole('treeitem');

// Runs in the page before its scripts: the longest task, and the longest time between two frames.
function watchPauses() {
  globalThis.pauses = { task: 0, frame: 0 };
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) globalThis.pauses.task = Math.max(globalThis.pauses.task, one.duration);
  }).observe({ type: 'longtask', buffered: true });
  let last;
  const frame = (now) => {
    globalThis.pauses.frame = Math.max(globalThis.pauses.frame, now - (last ?? now));
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}
const begin = (page) => page.evaluate(() => { Object.assign(globalThis.pauses, { task: 0, frame: 0 }); });
const pauses = (page) => page.evaluate(() => globalThis.pauses);

/** A space whose rows are all there. */
async function shown(page, space) {
  await page.goto(`${base}/w/s/${space}`);
  await rows(page).nth(10).waitFor();
  await page.waitForTimeout(3000);
}

async function tree(browser) {
  const { context, page, session } = await opened(browser, 1, (one) => signIn(one, base, ada));
  await page.addInitScript(watchPauses);
  await shown(page, large);
  tell('5,000 rows: longest task of the opening', (await pauses(page)).task, 'ms', 'a task below 50 ms counts as 0');
  await page.evaluate(watchKeys);
  await rows(page).first().focus();
  const down = await pressed(page, session, Array(KEYS).fill('ArrowDown'));
  tell('5,000 rows: key to paint p95', down.p95, 'ms', `p50 ${down.p50.toFixed(0)} ms, ArrowDown`);
  tell('5,000 rows: processor time a key', down.each.Task, 'ms', `Script ${down.each.Script.toFixed(1)}`);
  const ends = await pressed(page, session, Array.from({ length: 10 }, (_, at) => (at % 2 ? 'Home' : 'End')));
  tell('5,000 rows: first to last row and back, p95', ends.p95, 'ms', 'key to paint, End and Home');
  await rows(page).first().focus();
  // The first page has half of them below it.
  const folds = await pressed(page, session, Array.from({ length: 10 }, (_, at) => (at % 2 ? 'ArrowLeft' : 'ArrowRight')));
  tell('5,000 rows: 2,500 rows opened and closed, p95', folds.p95, 'ms', 'key to paint');
  await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(1000);
  const box = await rows(page).nth(3).boundingBox();
  await page.mouse.move(box.x + 20, box.y + 5);
  await begin(page);
  for (let at = 0; at < 40; at += 1) {
    await page.mouse.wheel(0, 1500);
    await page.waitForTimeout(30);
  }
  tell('5,000 rows: longest pause of scrolling', (await pauses(page)).frame, 'ms', 'between two frames');
  await begin(page);
  await page.evaluate(async (space) => {
    const answer = await fetch(`/api/v1/spaces/${space}/nodes`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ title: 'One more' }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  }, large);
  await page.waitForTimeout(4000);
  tell('5,000 rows: longest task of a change by others', (await pauses(page)).task, 'ms', 'a task below 50 ms counts as 0');
  await context.close();
}

// Runs in the page: the times from each key to the palette's list of titles for it.
function watchList() {
  globalThis.listed = [];
  let begun = 0;
  addEventListener('keydown', (event) => { begun = event.timeStamp; }, true);
  new MutationObserver(() => {
    if (begun) globalThis.listed.push(performance.now() - begun);
    begun = 0;
  }).observe(document.getElementById('palette.choices'), { subtree: true, childList: true, characterData: true });
}

async function palette(browser) {
  const { context, page } = await opened(browser, 1, (one) => signIn(one, base, ada));
  await shown(page, large);
  // Through the application: a new start would forget the titles of the first space.
  await page.evaluate((path) => {
    history.pushState(null, '', path);
    dispatchEvent(new PopStateEvent('popstate', { state: null }));
  }, `/w/s/${other}`);
  await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length > 10);
  await page.waitForTimeout(3000);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').waitFor();
  await page.evaluate(watchList);
  let most = 0;
  let count = 0;
  for (const title of titles) {
    for (const key of title.slice(0, 12)) {
      await page.keyboard.press(key === ' ' ? 'Space' : key);
      count += 1;
      await page.waitForTimeout(ASKED_MS);
      most = Math.max(most, await page.getByRole('option').count());
    }
    await page.getByRole('dialog').getByRole('combobox').fill('');
    await page.waitForTimeout(ASKED_MS);
  }
  const { listed, asked } = await page.evaluate(() => ({
    listed: globalThis.listed,
    asked: performance.getEntriesByType('resource').filter((one) => one.name.includes('/api/v1/search?'))
      .map((one) => one.responseEnd - one.startTime),
  }));
  if (listed.length < count * 0.8 || asked.length < count * 0.5 || most < 8)
    throw new Error(`${count} keys, ${listed.length} lists, ${asked.length} questions, ${most} choices at most`);
  const of = (times) => `p50 ${quantile(times, 0.5).toFixed(1)} ms, ${times.length} keys`;
  tell('10,000 titles: key to list p95', quantile(listed, 0.95), 'ms', of(listed));
  tell('10,000 pages: answer of the server p95', quantile(asked, 0.95), 'ms', of(asked));
  await context.close();
}

const wanted = (name) => !parts || parts.split(' ').includes(name);
const browser = await chromium.launch(OPTIONS);
if (wanted('tree')) await tree(browser);
if (wanted('palette')) await palette(browser);
await browser.close();
