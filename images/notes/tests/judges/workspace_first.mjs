// Opens a page in Chromium without a service worker: its text is the server's, then the workspace takes its place.
// Prints a line for each scenario that holds. Arguments: the address of a replica; people, a token and ids as JSON.
import { apiOf, browser, holds, judge, newPage, signIn } from './chromium.mjs';

const [base, given] = process.argv.slice(2);
const { ada, bob, token, ...ids } = JSON.parse(given);
const PHONE = { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true };
const LOOKS = {
  'light': {}, 'dark': { colorScheme: 'dark' }, 'narrow': { viewport: { width: 1000, height: 700 } }, 'phone': PHONE, 'German': { locale: 'de-DE' },
  'from the right': { language: 'qps' },
};
const MOST_SHIFT = 0.1;

// Runs in the page before its scripts: what was painted largest, how far it moved, and if the text was ever away.
function watch() {
  globalThis.seen = { largest: '', shift: 0, isAway: false, had: false };
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) globalThis.seen.largest = one.element?.closest('article') ? 'text' : String(one.element?.tagName);
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) globalThis.seen.shift += one.value;
  }).observe({ type: 'layout-shift', buffered: true });
  const look = () => {
    const isThere = document.querySelector('#main .prose > *') !== null;
    globalThis.seen.had ||= isThere;
    globalThis.seen.isAway ||= globalThis.seen.had && !isThere;
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** A page whose scripts wait until `release` is called. */
async function opened(who, id, { language, ...more } = {}) {
  const { context, page } = await newPage(more, 30_000);
  await signIn(page, base, who);
  if (language) {
    await context.addCookies([{ name: 'notes-language', value: language, url: base }]);
    await context.addInitScript((tag) => localStorage.setItem('notes-preferences', JSON.stringify({ language: tag })), language);
  }
  await context.addInitScript(watch);
  let release;
  const released = new Promise((done) => { release = done; });
  await context.route('**/assets/*.js', async (route) => { await released; await route.continue().catch(() => undefined); });
  const asked = [];
  page.on('request', (one) => asked.push(new URL(one.url()).pathname));
  const gone = page.goto(`${base}/w/p/${id}`);
  await page.locator('#main .prose > *').first().waitFor();
  return { context, page, asked, release: async () => { release(); await gone; } };
}

const drawn = (page) => page.locator('.workspace:not(.first) #main .prose > *').first().waitFor();
const seen = (page) => page.evaluate(() => globalThis.seen);

const api = apiOf(base, token);

async function withoutScript() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await signIn(page, base, ada);
  await page.goto(`${base}/w/p/${ids.page}`);
  await page.waitForURL(`${base}/p/${ids.page}`);
  holds('without scripts one comes to the plain page', await page.getByText('Words of part 3').count() === 1
    && await page.getByRole('button', { name: 'Create a link' }).count() === 1);
  await context.close();
}

async function looks() {
  for (const [name, look] of Object.entries(LOOKS)) {
    const { context, page, release } = await opened(ada, ids.page, look);
    await page.waitForTimeout(300);
    holds(`the text is the first paint, before any script: ${name}`, (await seen(page)).largest === 'text');
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/first-${name}.png` });
    const places = () => page.evaluate(() => ['#title', '.prose > *', '#one'].map((one) => {
      const { x, y, width } = document.querySelector(one).getBoundingClientRect();
      return [x, y, width].map(Math.round).join();
    }).join(' '));
    const before = await places();
    await page.evaluate(() => {
      globalThis.taken = []; // but for rows: the parser puts them into an element that the workspace does without
      new MutationObserver((changes) => {
        for (const { removedNodes } of changes) globalThis.taken.push(...[...removedNodes].filter(({ tagName }) => tagName && tagName !== 'TBODY').map((one) => one.outerHTML));
      }).observe(document.querySelector('.prose'), { childList: true, subtree: true });
    });
    await release();
    await drawn(page);
    await page.waitForTimeout(1500);
    const { shift, isAway } = await seen(page);
    const after = await places();
    if (before !== after) console.log(`${name}: ${before} became ${after}, shift ${shift}`);
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/second-${name}.png` });
    holds(`it is taken over in its place: ${name}`, before === after && shift < MOST_SHIFT && !isAway);
    const taken = await page.evaluate(() => globalThis.taken);
    if (taken.length) console.log(`${name}: taken away: ${taken.slice(0, 3)}`);
    holds(`its elements stay where they are: ${name}`, taken.length === 0);
    await context.close();
  }
}

async function places() {
  const { context, page, release } = await opened(ada, ids.page);
  await page.locator('#main').evaluate((one) => one.scrollTo(0, 400));
  await release();
  await drawn(page);
  await page.waitForTimeout(800);
  const top = () => page.locator('#main').evaluate((one) => one.scrollTop);
  holds('who has scrolled stays there', await top() === 400);
  await page.locator('#main').evaluate((one) => one.scrollTo(0, 300));
  await page.waitForTimeout(1000);
  await page.reload();
  await drawn(page);
  holds('a reload shows the same place', await top() === 300);
  await page.keyboard.press('e');
  await page.getByRole('textbox', { name: 'Text of the page' }).waitFor();
  holds('it can be edited', true);
  await context.close();
}

async function news() {
  const watching = await opened(bob, ids.news);
  await watching.release();
  await drawn(watching.page);
  await watching.page.waitForTimeout(1000);
  const path = `/api/v1/nodes/${ids.news}`;
  const quiet = await opened(ada, ids.news);
  await quiet.release();
  await drawn(quiet.page);
  await quiet.page.waitForTimeout(2000);
  holds('the document is not asked for again', !quiet.asked.includes(path));
  await quiet.context.close();
  const { context, page, release } = await opened(ada, ids.news);
  await api('PUT', `/nodes/${ids.news}`, { base_version: 1, markdown: 'newer words\n' });
  await release();
  await page.locator('.prose', { hasText: 'newer words' }).waitFor();
  holds('what changes before the script runs is shown', true);
  await context.close();
  await watching.context.close();
}

async function ended() {
  const { context, page, release } = await opened(ada, ids.page);
  await context.clearCookies();
  await release();
  await page.waitForURL(/\/login\?return_to=/);
  holds('who is signed out meanwhile comes to the sign-in', await page.getByText('Words of part 3').count() === 0);
  await signIn(page, base, bob);
  await page.goto(`${base}/w/p/${ids.hidden}`);
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  holds('who may not read a page sees that there is none', !(await page.content()).includes('Words of part 3'));
  await context.close();
}

async function another() {
  const { context, page, release } = await opened(ada, ids.hidden);
  await context.clearCookies();
  const other = await context.newPage();
  await signIn(other, base, bob);
  await release();
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  holds("the next person does not see the last one's page", !(await page.content()).includes('Words of part 3'));
  await context.close();
}

async function stored() {
  const { context, page, release } = await opened(ada, ids.page);
  await release();
  await drawn(page);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  const texts = () => page.evaluate(async () => {
    const found = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const one of await cache.keys()) if (new URL(one.url).pathname.startsWith('/w')) found.push([one.url, await (await cache.match(one)).text()]);
    }
    return found;
  });
  await page.reload();
  await drawn(page);
  const found = await texts();
  holds('the stored shell has no page of anybody', found.length === 1 && found[0][0] === `${base}/w` && found[0][1].includes('<div id="app"></div>'));
  holds('the page is shown from the stored shell', await page.getByText('Words of part 3').count() === 1);
  await context.close();
}

await judge(withoutScript, looks, places, news, ended, another, stored);
