// Opens screens (JSON) in Chromium, as somebody signed in, and prints what axe-core finds wrong.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { show } from './screen_acts.mjs';

const [base, cookie, given] = process.argv.slice(2);
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
let wrong = 0;
for (const colorScheme of ['light', 'dark']) {
  const context = await browser.newContext({ bypassCSP: true, colorScheme });
  const page = await context.newPage();
  const said = [];
  page.on('pageerror', (error) => said.push(String(error)));
  for (const screen of JSON.parse(given)) {
    if (!screen.isPublic) await context.addCookies([{ name: 'notes', value: cookie, url: base }]);
    else await context.clearCookies();
    const response = await show(page, base, screen);
    const { path } = screen;
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
    for (const violation of found.violations) {
      wrong += 1;
      console.log(colorScheme, path, violation.id, violation.nodes.map((node) => node.html).join('\n  '));
    }
    console.log(colorScheme, path, response.status(), `${found.passes.length} rules passed`);
  }
  if (said.length) { wrong += 1; console.log('errors:', said.join('\n')); }
}
await browser.close();
process.exit(wrong ? 1 : 0);
