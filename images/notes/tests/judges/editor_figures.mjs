// Measures an editor in Chromium: the time to open it, keys, the selection of everything, and its heap.
// web_figures.mjs measures the workspace with it, stacks_figures.mjs the editors of other projects too.
export const OPTIONS = {
  executablePath: '/usr/bin/chromium',
  viewport: { width: 1280, height: 800 },
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};
const KEYS = 40;
const TEXT = 'abcdefghij ';
const PATIENCE_MS = 180_000;
export const quantile = (all, share) => [...all].sort((a, b) => a - b)[Math.ceil(all.length * share) - 1];

// Runs in the page: the times from each key to the task after the frame that shows it, and beside them what the
// browser itself says of slow keys (Event Timing names those of 16 ms or more).
export function watchKeys() {
  globalThis.keys = [];
  globalThis.slow = [];
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (one.name === 'keydown') globalThis.slow.push(one.duration);
  }).observe({ type: 'event', durationThreshold: 16 });
  const { port1, port2 } = new MessageChannel();
  const begun = [];
  port1.onmessage = () => globalThis.keys.push(performance.now() - begun.shift());
  addEventListener('keydown', (event) => {
    begun.push(event.timeStamp);
    requestAnimationFrame(() => port2.postMessage(0));
  }, true);
}

async function metrics(session) {
  const { metrics: found } = await session.send('Performance.getMetrics');
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}

export async function signIn(page, base, person) {
  await page.goto(`${base}/login`);
  await page.fill('input[name=email]', person.email);
  await page.fill('input[name=password]', person.password);
  await Promise.all([page.waitForURL(`${base}/`), page.click('form[action="/login"] button')]);
}

/** A new private window at a processor that is `rate` times slower, after `before` ran in its page. */
export async function opened(browser, rate, before) {
  const context = await browser.newContext(OPTIONS);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await before(page);
  if (rate > 1) await session.send('Emulation.setCPUThrottlingRate', { rate });
  return { context, page, session };
}

/** Opens a page of the workspace twice: the chunk of the editor is stored, as for all who have edited before. */
export async function ready(page, address) {
  for (let time = 0; time < 2; time += 1) {
    await page.goto(address);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  }
  await page.locator('article .prose > *').first().waitFor();
}

/** Clicks on Edit; the ms from the click to the task after the frame with the text. */
async function open(page) {
  const button = page.getByRole('button', { name: 'Edit', exact: true }).first();
  await button.waitFor();
  return button.evaluate((element) => new Promise((done) => {
    const begun = performance.now();
    const look = () => {
      // Some editors draw an empty document first.
      if (!document.querySelector('.ProseMirror :is(h1, h2, h3, h4)')?.textContent) requestAnimationFrame(look);
      else requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
    };
    element.click();
    requestAnimationFrame(look);
  }));
}

/** Presses keys, with a pause after each; the times in ms to the task after the frame, and processor time of a key. */
export async function pressed(page, session, all) {
  await page.evaluate(() => { globalThis.keys.length = globalThis.slow.length = 0; });
  const before = await metrics(session);
  for (const [at, key] of all.entries()) {
    await page.keyboard.press(key === ' ' ? 'Space' : key);
    await page.waitForFunction((count) => globalThis.keys.length > count, at, { timeout: PATIENCE_MS });
    await page.waitForTimeout(80);
  }
  const after = await metrics(session);
  const { keys: times, slow } = await page.evaluate(() => ({ keys: globalThis.keys, slow: globalThis.slow }));
  const each = (metric) => (after[`${metric}Duration`] - before[`${metric}Duration`]) * 1000 / all.length;
  const names = ['Task', 'Script', 'Layout', 'RecalcStyle'];
  const told = [...all.slice(slow.length).map(() => 16), ...slow];
  return {
    p50: quantile(times, 0.5), p95: quantile(times, 0.95), told: quantile(told, 0.95),
    each: Object.fromEntries(names.map((name) => [name, each(name)])),
  };
}

async function selectAll(page) {
  await page.evaluate(() => { globalThis.keys.length = 0; });
  await page.keyboard.press('Control+a');
  await page.waitForFunction(() => globalThis.keys.length > 0);
  return page.evaluate(() => Math.max(...globalThis.keys));
}

/**
 * Opens the editor of a page that has a button Edit, and types in its second paragraph.
 *
 * Times in ms: opening, p50 and p95 of key to paint, `told` (the p95 of Event Timing), `each` (processor time of a key, and its parts);
 * if it is large, also selectAll, and heap in MB.
 */
export async function editing(page, session, { isLarge }) {
  const opening = await open(page);
  await page.waitForTimeout(2000);
  await page.evaluate(watchKeys);
  // The second paragraph in the first screen: the caret goes where a person would click.
  await page.locator('.ProseMirror p').nth(1).click();
  await page.keyboard.press('End');
  await page.waitForTimeout(1000);
  const typing = Array.from({ length: KEYS }, (_, at) => TEXT[at % TEXT.length]);
  const found = { opening, ...await pressed(page, session, typing) };
  const typed = await page.locator('.ProseMirror p').nth(1).textContent();
  if (!typed.includes(TEXT.slice(0, 10))) throw new Error(`the keys are not in the text: ${typed}`);
  if (!isLarge) return found;
  const selected = await selectAll(page);
  await page.keyboard.press('Control+Home');
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return { ...found, selectAll: selected, heap: usedSize / 2 ** 20 };
}
