// Measures the workspace in Chromium; bench/web.py runs it. Prints a line of JSON for each figure.
// Arguments: the address of a replica; a user and the ids of pages by their number of blocks, as JSON; parts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { OPTIONS, editing, opened as openedIn, ready, signIn as signInAt } from './editor_figures.mjs';

const [base, given, parts] = process.argv.slice(2);
const { ada, pages } = JSON.parse(given);
const SLOW_NETWORK = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 90_000 };
const counted = (blocks) => `${Number(blocks).toLocaleString('en')} blocks`;
const tell = (name, value, unit, note = '') => console.log(JSON.stringify({ name, value, unit, note }));

// Runs in the page before its scripts: when text was first there, when the workspace had drawn it, and when the last
// long task ended.
function watch() {
  globalThis.seen = { first: 0, text: 0, busy: 0 };
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) globalThis.seen.busy = one.startTime + one.duration;
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    const shown = document.querySelector('article .prose > *');
    if (shown) globalThis.seen.first ||= performance.now();
    if (shown?.closest('.workspace:not(.first)')) globalThis.seen.text = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

const signIn = (page) => signInAt(page, base, ada);
const show = (page, blocks) => page.goto(`${base}/w/p/${pages[blocks]}`);
const hasText = (page) => page.locator('article .prose > *').first().waitFor({ timeout: 120_000 });
const slower = (session, rate) => session.send('Emulation.setCPUThrottlingRate', { rate });

async function opened(browser, rate = 1) {
  const found = await openedIn(browser, rate, signIn);
  await found.page.addInitScript(watch);
  return found;
}

/** The time at which the page was interactive: the workspace has drawn it, and 2 s without a long task follow. */
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
  tell('first visit, 4x slower, 1.6 Mbit/s: first text', await page.evaluate(() => globalThis.seen.first), 'ms', '100 blocks');
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

async function typing(browser, blocks, rate) {
  const { context, page, session } = await opened(browser, rate);
  const name = `${counted(blocks)}${rate > 1 ? `, ${rate}x slower` : ''}`;
  await ready(page, `${base}/w/p/${pages[blocks]}`);
  const found = await editing(page, session, { isLarge: Number(blocks) >= 10_000 && rate === 1 });
  tell(`${name}: open for editing`, found.opening, 'ms');
  tell(`${name}: key to paint p95`, found.p95, 'ms', `p50 ${found.p50.toFixed(0)} ms, Event Timing p95 ${found.told.toFixed(0)} ms`);
  const shares = ['Script', 'Layout', 'RecalcStyle'].map((one) => `${one} ${found.each[one].toFixed(1)}`);
  tell(`${name}: processor time a key`, found.each.Task, 'ms', shares.join(', '));
  if (found.heap !== undefined) {
    tell(`${name}: select all`, found.selectAll, 'ms');
    tell(`${name}: heap of the tab`, found.heap, 'MB');
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
