// Opens files and pages in Chromium and prints, a line of JSON each, what loaded and what was refused.
// Arguments: a map of host names, the value of the cookie, and a JSON list of {url, embed}: `embed`
// is a list of {tag, src} to be put into the page as a reader's browser would.
import { chromium } from 'playwright-core';

const [port, cookie, tasks] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--mute-audio',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    `--host-resolver-rules=MAP *.example.org:80 127.0.0.1:${port}`],
});
for (const { url, embed } of JSON.parse(tasks)) {
  const context = await browser.newContext();
  if (cookie) await context.addCookies([{ name: 'notes', value: cookie, url: 'http://notes.example.org' }]);
  const page = await context.newPage();
  const asked = [];
  const said = [];
  page.on('response', (answer) => asked.push(new URL(answer.url()).pathname));
  page.on('console', (message) => said.push(message.text()));
  const response = await page.goto(url);
  const found = [];
  if (embed) {
    found.push(...await page.evaluate((wanted) => Promise.all(wanted.map(({ tag, src }) => new Promise((resolve) => {
      const made = document.createElement(tag);
      const done = (result) => resolve({ tag, result });
      for (const event of ['load', 'loadedmetadata']) made.addEventListener(event, () => done('loaded'));
      made.addEventListener('error', () => done('refused'));
      setTimeout(() => done('nothing'), 10000);
      made.src = src;
      document.body.append(made);
    }))), embed));
  } else {
    // A document that may run no script can be inspected from outside only.
    await page.waitForTimeout(1500);
    found.push(await page.evaluate(() => {
      const media = document.querySelector('video, audio');
      const picture = document.images && document.images[0];
      return {
        tag: media ? 'media' : document.documentElement.localName,
        ready: media ? media.readyState : 0,
        error: media && media.error ? media.error.message : '',
        width: picture ? picture.naturalWidth : 0,
        text: document.documentElement.textContent.slice(0, 200),
        ran: document.documentElement.getAttribute('data-ran'),
      };
    }));
  }
  console.log(JSON.stringify({ url, status: response.status(), found, asked, said }));
  await context.close();
}
await browser.close();
