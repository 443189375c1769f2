// Measures the workspace in Chromium; bench/web.py runs it. Prints a line of JSON for each figure.
// Arguments: the address of a replica; a user and the ids of pages by their number of blocks, as JSON; parts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [base, given, parts] = process.argv.slice(2);
const { ada, pages } = JSON.parse(given);
const OPTIONS = {
  executablePath: '/usr/bin/chromium',
  viewport: { width: 1280, height: 800 },
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};
const KEYS = 40;
const SLOW_NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 90_000 };
const quantile = (all, share) => [...all].sort((a, b) => a - b)[Math.ceil(all.length * share) - 1];
const counted = (blocks) => `${Number(blocks).toLocaleString('en')} blocks`;
const tell = (name, value, unit, note = '') => console.log(JSON.stringify({ name, value, unit, note }));

// Runs in the page before its scripts: when text was first drawn, and when the last long task ended.
function watch() {
  globalThis.seen = { text: 0, busy: 0 };
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) globalThis.seen.busy = one.startTime + one.duration;
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    if (document.querySelector('article .prose > *')) globalThis.seen.text = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

// Runs in the page: the times from each key to the task after the frame that shows it.
function watchKeys() {
  globalThis.keys = [];
  const { port1, port2 } = new MessageChannel();
  const begun = [];
  port1.onmessage = () => globalThis.keys.push(performance.now() - begun.shift());
  addEventListener('keydown', (event) => {
    begun.push(event.timeStamp);
    requestAnimationFrame(() => port2.postMessage(0));
  }, true);
}

async function signIn(page) {
  await page.goto(`${base}/login`);
  await page.fill('input[name=email]', ada.email);
  await page.fill('input[name=password]', ada.password);
  await Promise.all([page.waitForURL(`${base}/`), page.click('form[action="/login"] button')]);
}

const show = (page, blocks) => page.goto(`${base}/w/p/${pages[blocks]}`);
const hasText = (page) => page.locator('article .prose > *').first().waitFor({ timeout: 120_000 });
const slower = (session, rate) => session.send('Emulation.setCPUThrottlingRate', { rate });

async function metrics(session) {
  const { metrics: found } = await session.send('Performance.getMetrics');
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}

async function opened(browser, rate = 1) {
  const context = await browser.newContext(OPTIONS);
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await signIn(page);
  await page.addInitScript(watch);
  if (rate > 1) await slower(session, rate);
  return { context, page, session };
}

/** The time at which the page was interactive: its text is there, and 2 s without a long task follow. */
async function interactive(page) {
  await hasText(page);
  for (;;) {
    const { now, text, busy } = await page.evaluate(() => ({ now: performance.now(), ...globalThis.seen }));
    if (text && now - Math.max(text, busy) > 2000) return Math.max(text, busy);
    await page.waitForTimeout(200);
  }
}

async function visits(browser) {
  const { context, page, session } = await opened(browser, 4);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW_NETWORK);
  await show(page, 100);
  tell('first visit, 4x slower, 1.6 Mbit/s: interactive', await interactive(page), 'ms', '100 blocks');
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.waitForTimeout(3000);
  await show(page, 100);
  tell('again, 4x slower, 1.6 Mbit/s: interactive', await interactive(page), 'ms', '100 blocks');
  await context.close();
}

async function offline() {
  const folder = mkdtempSync(join(tmpdir(), 'notes-web-'));
  try {
    const first = await chromium.launchPersistentContext(folder, OPTIONS);
    const page = await first.newPage();
    await signIn(page);
    await show(page, 1000);
    await hasText(page);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.waitForTimeout(3000);
    await first.close();
    for (const rate of [1, 4]) {
      const again = await chromium.launchPersistentContext(folder, OPTIONS);
      const start = await again.newPage();
      const session = await again.newCDPSession(start);
      await again.setOffline(true);
      await start.addInitScript(watch);
      await slower(session, rate);
      await show(start, 1000);
      await hasText(start);
      const { text } = await start.evaluate(() => globalThis.seen);
      const name = rate > 1 ? 'offline start, 1,000 blocks, 4x slower' : 'offline start, 1,000 blocks: first text';
      tell(name, text, 'ms', 'a new process of the browser');
      await again.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens a page for editing; the time from the click to the task after the frame with the text. */
async function edit(page) {
  await hasText(page);
  // The chunk of the editor is in the cache, as it is for all who have edited before.
  const button = page.getByRole('button', { name: 'Edit', exact: true }).first();
  await button.waitFor();
  return button.evaluate((element) => new Promise((done) => {
    const begun = performance.now();
    const look = () => {
      if (!document.querySelector('.ProseMirror > *')) requestAnimationFrame(look);
      else requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
    };
    element.click();
    requestAnimationFrame(look);
  }));
}

async function typing(browser, blocks, rate) {
  const { context, page, session } = await opened(browser, rate);
  const name = `${counted(blocks)}${rate > 1 ? `, ${rate}x slower` : ''}`;
  await show(page, blocks);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await show(page, blocks);
  const opening = await edit(page);
  tell(`${name}: open for editing`, opening, 'ms');
  await page.waitForTimeout(2000);
  await page.evaluate(watchKeys);
  const text = page.locator('.ProseMirror');
  // The second paragraph in the first screen: the caret goes where a person would click.
  await text.locator('p').nth(1).click();
  await page.keyboard.press('End');
  await page.waitForTimeout(1000);
  await page.evaluate(() => { globalThis.keys.length = 0; });
  const before = await metrics(session);
  for (let at = 0; at < KEYS; at += 1) {
    await page.keyboard.press('abcdefghij '[at % 11] === ' ' ? 'Space' : 'abcdefghij '[at % 11]);
    await page.waitForFunction((count) => globalThis.keys.length > count, at, { timeout: 120_000 });
    await page.waitForTimeout(80);
  }
  const after = await metrics(session);
  const keys = await page.evaluate(() => globalThis.keys);
  const each = (metric) => (after[metric] - before[metric]) * 1000 / KEYS;
  const note = `p50 ${quantile(keys, 0.5).toFixed(0)} ms`;
  tell(`${name}: key to paint p95`, quantile(keys, 0.95), 'ms', note);
  const shares = ['Script', 'Layout', 'RecalcStyle'].map((one) => `${one} ${each(`${one}Duration`).toFixed(1)}`);
  tell(`${name}: processor time a key`, each('TaskDuration'), 'ms', shares.join(', '));
  if (Number(blocks) >= 10_000 && rate === 1) {
    await page.evaluate(() => { globalThis.keys.length = 0; });
    await page.keyboard.press('Control+a');
    await page.waitForFunction(() => globalThis.keys.length > 0);
    tell(`${name}: select all`, await page.evaluate(() => Math.max(...globalThis.keys)), 'ms');
    await page.keyboard.press('Control+Home');
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    tell(`${name}: heap of the tab`, usedSize / 2 ** 20, 'MB');
  }
  await context.close();
}

const wanted = (name) => !parts || parts.split(' ').includes(name);
const browser = await chromium.launch(OPTIONS);
if (wanted('visits')) await visits(browser);
if (wanted('offline')) await offline();
for (const blocks of Object.keys(pages)) {
  if (wanted(blocks)) await typing(browser, blocks, 1);
  if (wanted(`${blocks}x4`)) await typing(browser, blocks, 4);
}
await browser.close();
