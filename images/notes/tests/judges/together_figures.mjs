// Measures how long an edit takes from one browser to another one at another replica; bench/together.py runs it.
// Arguments: the addresses of two replicas; users, a page and the number of edits as JSON. Prints a line of JSON
// for each figure: `from` is "key" or "request", `to` what the other person does.
import { chromium } from 'playwright-core';
import { OPTIONS, opened, signIn } from './editor_figures.mjs';

const [first, second, given] = process.argv.slice(2);
const { ada, bob, page: pageId, edits } = JSON.parse(given);
/** Longer than the editor's own pause between two requests: each word goes alone. */
const PAUSE_MS = 350;
const quantile = (all, share) => [...all].sort((a, b) => a - b)[Math.ceil(all.length * share) - 1];

// Runs in the writer's page: when a request began that has a word. The last one counts: a refused edit goes again.
function watchRequests() {
  globalThis.sent = {};
  const before = globalThis.fetch;
  globalThis.fetch = (url, init) => {
    if (String(url).endsWith('/edits') && init?.method === 'POST')
      for (const [word] of String(init.body).matchAll(/[re]\d+x/g)) globalThis.sent[word] = Date.now();
    return before(url, init);
  };
}

// Runs in the other page: when a word was in the text for the first time.
function watchText() {
  globalThis.seen = {};
  const look = () => {
    for (const [word] of (document.querySelector('.prose')?.textContent ?? '').matchAll(/[re]\d+x/g))
      globalThis.seen[word] ??= Date.now();
  };
  new MutationObserver(look).observe(document.getElementById('main'), { subtree: true, childList: true, characterData: true });
}

async function shown(browser, base, who, isEditing) {
  const { context, page } = await opened(browser, 1, (one) => signIn(one, base, who));
  await page.goto(`${base}/w/p/${pageId}`);
  await page.locator('article .prose > *').first().waitFor();
  if (isEditing) {
    await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
    await page.locator('.ProseMirror p').nth(1).click();
  }
  await page.waitForTimeout(2000);
  return { context, page };
}

async function measure(browsers, to) {
  // Words of another letter than those before them: an edit between two of one letter may have its end in the other.
  const word = (at) => `${to[0]}${at}x`;
  const writer = await shown(browsers[0], first, ada, true);
  const other = await shown(browsers[1], second, bob, to === 'edits');
  await writer.page.evaluate(watchRequests);
  await other.page.evaluate(watchText);
  await writer.page.keyboard.press('End');
  const typed = {};
  for (let at = 0; at < edits; at += 1) {
    typed[word(at)] = Date.now();
    await writer.page.keyboard.insertText(`${word(at)} `);
    await writer.page.waitForTimeout(PAUSE_MS);
  }
  await other.page.waitForFunction((last) => globalThis.seen[last], word(edits - 1), { timeout: 60_000 });
  const sent = await writer.page.evaluate(() => globalThis.sent);
  const seen = await other.page.evaluate(() => globalThis.seen);
  for (const [from, begun] of [['request', sent], ['key', typed]]) {
    const times = Object.keys(typed).map((one) => seen[one] - begun[one]);
    if (!times.every((ms) => ms >= 0)) throw new Error(`an edit that is seen before its ${from}: ${times}`);
    const found = { p50: quantile(times, 0.5), p95: quantile(times, 0.95), most: Math.max(...times) };
    console.log(JSON.stringify({ from, to, ...found }));
  }
  await writer.context.close();
  await other.context.close();
}

const browsers = await Promise.all([chromium.launch(OPTIONS), chromium.launch(OPTIONS)]);
await measure(browsers, 'reads');
await measure(browsers, 'edits');
for (const one of browsers) await one.close();
