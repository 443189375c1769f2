// Listens in Chromium, as somebody signed in, with the browser's own EventSource; prints what it
// hears, a line of JSON each, until its standard input ends.
import { chromium } from 'playwright-core';

const [base, cookie, ...kinds] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const context = await browser.newContext();
await context.addCookies([{ name: 'notes', value: cookie, url: base }]);
const page = await context.newPage();
await page.exposeFunction('tell', (line) => console.log(line));
await page.goto(base + '/settings');
await page.evaluate((listened) => {
  const source = new EventSource('/api/v1/events');
  const say = (kind, more) => globalThis.tell(JSON.stringify({ kind, state: source.readyState, ...more }));
  source.onopen = () => say('open');
  source.onerror = () => say('error');
  for (const kind of listened) {
    source.addEventListener(kind, (event) => say(kind, { id: event.lastEventId, data: JSON.parse(event.data) }));
  }
}, kinds);
process.stdin.resume();
process.stdin.on('end', async () => { await browser.close(); process.exit(0); });
