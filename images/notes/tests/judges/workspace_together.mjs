// Two people at one page on two replicas: carets, uploads and sign-outs in the middle, places that both changed.
// Prints a line for each scenario that holds. Arguments: the addresses of two replicas, and users, a token and ids
// as JSON.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [first, second, given] = process.argv.slice(2);
const { ada, bob, token, carets: caretPage } = JSON.parse(given);
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const wrong = [];
const holds = (name, condition) => {
  if (condition) console.log(`holds: ${name}`);
  else wrong.push(name);
};

async function signIn(page, base, who) {
  await page.goto(`${base}/login`);
  await page.fill('input[name=email]', who.email);
  await page.fill('input[name=password]', who.password);
  await Promise.all([page.waitForURL(`${base}/`), page.click('form[action="/login"] button')]);
}

async function opened(base, who, id, more = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...more });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  page.on('console', (message) => {
    if (/Content.Security.Policy|TrustedScript|TrustedHTML|Refused/i.test(message.text())) wrong.push(message.text());
  });
  await signIn(page, base, who);
  await page.goto(`${base}/w/p/${id}`);
  return { context, page, text: await edit(page) };
}

async function edit(page) {
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.waitFor();
  return text;
}

async function api(method, path, body) {
  const answer = await fetch(`${first}/api/v1${path}`, {
    method, headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const docOf = async (id) => (await api('GET', `/nodes/${id}/live`)).doc;
const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join(node.type === 'doc' ? '|' : '');
const isSaved = (page) => page.locator('[data-saving=saved]').waitFor();

/** Waits until `look` is true; tells the last answer of `show` if it never is. */
async function until(look, show = () => '', ms = 40_000) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    if (await look()) return true;
    last ??= Date.now() > end - ms / 2 ? await show() : undefined;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  console.log(`never: ${last}`);
  return false;
}

async function accessible(page, name) {
  await page.evaluate(axe).catch(() => undefined);
  const found = await page.evaluate(async (run) => (await globalThis.axe.run({ runOnly: run })).violations
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`), RULES);
  for (const one of found) wrong.push(`axe, ${name}: ${one}`);
  holds(`axe finds nothing wrong: ${name}`, found.length === 0);
}

/** The text before the caret of somebody else in its paragraph, and what they have chosen. */
const caretIn = (page) => page.evaluate(() => {
  const caret = document.querySelector('.ProseMirror .caret');
  if (!caret) return 'none';
  const range = document.createRange();
  range.setStart(caret.closest('p'), 0);
  range.setEndBefore(caret);
  const before = [...document.querySelectorAll('.ProseMirror .chosen')].map((one) => one.textContent).join('/');
  return `${caret.textContent}: ${range}^ ${before}`;
});
const shows = (page, wanted) => until(async () => await caretIn(page) === wanted, () => caretIn(page));

/** Sends a report with a caret as another client would. */
const hostile = (page, id, caret, isHere = true) => page.evaluate(async ([url, body]) => (await fetch(url, {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-own': 'yes' }, body: JSON.stringify(body),
})).status, [`/api/v1/nodes/${id}/presence`, { tab: '00000000-0000-4000-8000-000000000009', caret, is_here: isHere }]);

async function carets() {
  const a = await opened(first, ada, caretPage);
  const b = await opened(second, bob, caretPage, { reducedMotion: 'reduce' });
  await b.text.press('Control+End');
  await b.text.press('ArrowLeft');
  holds('the caret of somebody else is shown with a name', await shows(a.page, 'Bob: las^ '));
  await b.text.press('Shift+ArrowLeft');
  await b.text.press('Shift+ArrowLeft');
  holds('and what they have chosen', await shows(a.page, 'Bob: l^ as'));
  const reports = [];
  b.page.on('request', (one) => { if (one.url().endsWith('/presence')) reports.push(Date.now()); });
  await a.text.press('Control+End');
  await a.text.pressSequentially(' of ada');
  holds('it stays while one types', await caretIn(a.page) === 'Bob: l^ as');
  await b.text.press('ArrowRight');
  await b.text.pressSequentially('-here-', { delay: 300 });
  holds('it moves while the other types', await shows(a.page, 'Bob: las-here-^ ')
    && await until(async () => textOf(await docOf(caretPage)).endsWith('las-here-t of ada')));
  const pauses = reports.slice(1).map((at, index) => at - reports[index]);
  holds('carets are reported at most once a second', reports.length > 1 && pauses.every((ms) => ms > 700));
  const label = await a.page.locator('.caret').evaluate((one) => ({
    hidden: one.getAttribute('aria-hidden'), editable: one.isContentEditable, live: one.closest('[aria-live]') !== null }));
  holds('a screen reader hears nothing of it', label.hidden === 'true' && !label.live && !label.editable);
  await b.text.press('Shift+ArrowLeft');
  await b.text.press('Shift+ArrowLeft');
  await shows(a.page, 'Bob: las-her^ e-');
  if (process.env.PICTURES) await a.page.screenshot({ path: `${process.env.PICTURES}/caret.png` });
  await accessible(a.page, 'a caret, light');
  await a.page.emulateMedia({ colorScheme: 'dark' });
  await accessible(a.page, 'a caret, dark');
  await a.page.emulateMedia({ forcedColors: 'active' });
  const drawn = await a.page.locator('.caret-name').evaluate((one) => {
    const { color, backgroundColor } = getComputedStyle(one);
    return color !== backgroundColor && backgroundColor !== 'rgba(0, 0, 0, 0)';
  });
  holds('it is seen in forced colours', drawn);
  holds('nothing moves where less motion is wanted', await b.page.evaluate(() =>
    [...document.styleSheets].some((sheet) => [...sheet.cssRules].some((rule) => rule.conditionText?.includes('reduced-motion')
      && matchMedia(rule.conditionText).matches && rule.cssText.includes('step-end')))));
  // A client of its own making, while Bob's editor says nothing.
  await b.page.route('**/presence', (route) => (route.request().headers()['x-own'] ? route.continue() : route.abort()));
  const { seq } = await api('GET', `/nodes/${caretPage}/live`);
  holds('a caret behind the end is shown at the end', await hostile(b.page, caretPage, { seq, anchor: 0, head: 2 ** 31 - 1 }) === 200
    && await shows(a.page, 'Bob: las-here-t of ada^ first/las-here-t of ada'));
  holds('one of an edit that nobody made is not shown', await hostile(b.page, caretPage, { seq: 2 ** 53, anchor: 1, head: 1 }) === 200
    && await shows(a.page, 'none'));
  holds('what is no caret is refused', await hostile(b.page, caretPage, { seq, anchor: -1, head: 1, name: 'x'.repeat(9999) }) === 422);
  await a.text.pressSequentially(' goes on');
  await isSaved(a.page);
  holds('the editor goes on', textOf(await docOf(caretPage)).endsWith('of ada goes on'));
  await hostile(b.page, caretPage, { seq, anchor: 1, head: 1 });
  holds('and shows the next caret', await shows(a.page, 'Bob: ^ '));
  if (process.env.PICTURES) await a.page.screenshot({ path: `${process.env.PICTURES}/caret-forced.png` });
  await hostile(b.page, caretPage, undefined, false);
  await b.page.unroute('**/presence');
  await b.context.close();
  holds('it goes when the other one has gone', await until(async () => await caretIn(a.page) === 'none', () => '', 60_000));
  await a.context.close();
}

const scenarios = { carets };
const wanted = process.env.SCENARIO ? process.env.SCENARIO.split(' ') : Object.keys(scenarios);
for (const name of wanted) {
  try {
    await scenarios[name]();
  } catch (error) {
    wrong.push(`${name}: ${error.stack}`);
  }
}
await browser.close();
for (const one of wrong) console.log(`wrong: ${one}`);
process.exit(wrong.length ? 1 : 0);
