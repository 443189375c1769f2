// Opens the operator's page in Chromium: axe-core in light and dark on two widths, what is sent, the
// page without script, and the news of another pass. Prints one JSON line for each, then `end`.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';

const [judges, base, word, ...paths] = process.argv.slice(2);
const require = createRequire(`${judges}/`);
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const tell = (found) => console.log(JSON.stringify(found));
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});

for (const colorScheme of ['light', 'dark']) {
  for (const width of [360, 1280]) {
    const context = await browser.newContext({
      bypassCSP: true, colorScheme, viewport: { width, height: 800 },
    });
    const page = await context.newPage();
    const said = [];
    page.on('pageerror', (error) => said.push(String(error)));
    for (const path of paths) {
      const response = await page.goto(base + path);
      await page.locator('#live').filter({ hasText: /./ }).waitFor({ state: 'attached' });
      // By the page's own clock: Chromium does not keep each response for its protocol.
      const bytes = await page.evaluate(() => performance.getEntries()
        .filter((one) => ['navigation', 'link', 'script', 'img'].includes(one.initiatorType))
        .reduce((sum, one) => sum + one.decodedBodySize, 0));
      await page.evaluate(axe);
      const found = await page.evaluate((runOnly) => globalThis.axe.run({ runOnly }), rules);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      tell({
        colorScheme, width, path, status: response.status(), bytes, overflow,
        passes: found.passes.length, words: await page.locator('main').innerText(),
        violations: found.violations.map((one) => [one.id, one.nodes[0].html]),
      });
    }
    tell({ errors: said });
    await context.close();
  }
}

// Under the page's own policy from here on.
const plain = await browser.newContext({ javaScriptEnabled: false });
const quiet = await plain.newPage();
await quiet.goto(base + paths[0]);
tell({ withoutScript: await quiet.locator('main').innerText() });
await plain.close();

const context = await browser.newContext();
const page = await context.newPage();
const said = [];
page.on('pageerror', (error) => said.push(String(error)));
page.on('console', (message) => { if (message.type() === 'error') said.push(message.text()); });
await page.goto(base + paths[0]);
await page.locator('#live').filter({ hasText: 'live' }).waitFor({ state: 'attached' });
await page.evaluate(() => { globalThis.notLoadedAgain = true; });
tell({ before: await page.locator('main').innerText() });
await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
await page.getByText(word).first().waitFor();
tell({ sameDocument: await page.evaluate(() => globalThis.notLoadedAgain === true), errors: said });
await browser.close();
console.log('end');
process.exit(0);
