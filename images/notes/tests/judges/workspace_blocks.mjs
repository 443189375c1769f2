// One person inserts blocks by the menu behind `/`, and works in a table, with keys alone. Prints a line for each
// scenario that holds. Arguments: the address of a replica, and a user, a token and page ids as JSON.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [base, given] = process.argv.slice(2);
const { ada, token, menu: menuPage, table: tablePage } = JSON.parse(given);
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

async function opened(id, more = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...more });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  page.on('console', (message) => {
    if (/Content.Security.Policy|TrustedScript|TrustedHTML|Refused/i.test(message.text())) wrong.push(message.text());
  });
  await page.goto(`${base}/login`);
  await page.fill('input[name=email]', ada.email);
  await page.fill('input[name=password]', ada.password);
  await Promise.all([page.waitForURL(`${base}/`), page.click('form[action="/login"] button')]);
  await page.goto(`${base}/w/p/${id}`);
  await page.getByRole('button', { name: /^(Edit|Bearbeiten)$/ }).first().click();
  const text = page.locator('.ProseMirror[role=textbox]');
  await text.waitFor();
  return { context, page, text };
}

async function docOf(id) {
  const answer = await fetch(`${base}/api/v1/nodes/${id}/live`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${id}: ${answer.status}`);
  return (await answer.json()).doc;
}

const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join('');
const types = (doc) => doc.content.map((node) => node.type).join(' ');

/** Waits until the document at the server is as `look` wants it; tells what it is if it never is. */
async function stored(id, look) {
  const end = Date.now() + 60_000;
  let doc;
  while (Date.now() < end) {
    doc = await docOf(id);
    if (look(doc)) return true;
    await new Promise((done) => { setTimeout(done, 200); });
  }
  console.log(JSON.stringify(doc));
  return false;
}

async function accessible(page, name) {
  await page.evaluate(axe).catch(() => undefined);
  const found = await page.evaluate(async (run) => (await globalThis.axe.run({ runOnly: run })).violations
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' ')}`), RULES);
  for (const one of found) wrong.push(`axe, ${name}: ${one}`);
  holds(`axe finds nothing wrong: ${name}`, found.length === 0);
}

const activeName = (page) => page.evaluate(() => {
  const id = document.activeElement.getAttribute('aria-activedescendant');
  return id && document.getElementById(id)?.textContent;
});

async function menu() {
  const { context, page, text } = await opened(menuPage);
  const list = page.getByRole('listbox', { name: 'Insert a block' });
  await text.press('Control+End');
  await text.pressSequentially('/');
  await list.waitFor();
  holds('a / opens the menu, and its entries are counted', await list.getByRole('option').count() > 8
    && /\d+ results/.test(await page.locator('[data-blocks]').innerText()));
  holds('the text names the chosen entry', (await activeName(page))?.startsWith('Heading 1'));
  await text.press('ArrowDown');
  await text.press('ArrowDown');
  await text.press('ArrowUp');
  holds('arrow keys choose', (await activeName(page))?.startsWith('Heading 2')
    && await list.getByRole('option', { selected: true }).innerText().then((name) => name.startsWith('Heading 2')));
  await accessible(page, 'the menu, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'the menu, dark');
  await text.press('Enter');
  await text.pressSequentially('Head');
  holds('Enter makes the block, without what was typed', await stored(menuPage, (doc) =>
    types(doc) === 'heading' && doc.content[0].attrs.level === 2 && textOf(doc) === 'Head'));
  await text.press('Enter');
  await text.pressSequentially('/numb');
  await list.waitFor();
  holds('typing filters', await list.getByRole('option').count() === 1);
  await text.press('Tab');
  await text.pressSequentially('one');
  await text.press('Enter');
  await text.press('Enter');
  await text.pressSequentially('/todo/ and/or ');
  await list.waitFor({ state: 'detached' });
  await text.pressSequentially('/');
  await list.waitFor();
  await text.press('Escape');
  await list.waitFor({ state: 'detached' });
  await text.pressSequentially('li');
  holds('Escape closes the menu and keeps the text', await list.count() === 0
    && await page.evaluate(() => Boolean(document.activeElement.closest('.ProseMirror')))
    && await stored(menuPage, (doc) => types(doc) === 'heading orderedList paragraph'
      && textOf(doc.content[2]) === '/todo/ and/or /li'));
  await text.press('Enter');
  await text.pressSequentially('/```');
  await text.press('Enter');
  await text.pressSequentially('a /');
  holds('there is no menu in code', await list.count() === 0 && await stored(menuPage, (doc) =>
    types(doc) === 'heading orderedList paragraph codeBlock' && textOf(doc.content[3]) === 'a /'));
  await text.press('Control+Enter');
  await text.pressSequentially('/quot');
  await list.getByRole('option').click();
  await text.pressSequentially('said');
  holds('a click chooses, too', await stored(menuPage, (doc) => types(doc).endsWith('codeBlock blockquote')));
  await page.setViewportSize({ width: 320, height: 640 });
  await text.pressSequentially(' /');
  await list.waitFor();
  holds('the menu fits a phone', await list.evaluate((one) => {
    const box = one.getBoundingClientRect();
    return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
  }));
  await context.close();
}

const cells = (doc) => doc.content.find((node) => node.type === 'table')?.content
  .map((row) => row.content.map((cell) => (cell.type === 'tableHeader' ? `*${textOf(cell)}` : textOf(cell))).join('|'))
  .join('/');

async function tables() {
  const { context, page, text } = await opened(tablePage, { locale: 'de-DE' });
  const list = page.getByRole('listbox', { name: 'Block einfügen' });
  const command = async (typed) => {
    await text.pressSequentially(` /${typed}`);
    await list.waitFor();
    await text.press('Enter');
    await list.waitFor({ state: 'detached' });
  };
  await text.press('Control+End');
  await text.pressSequentially('/tab');
  await list.waitFor();
  await text.press('Enter');
  await page.getByRole('toolbar', { name: 'Tabelle' }).waitFor();
  for (const typed of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) {
    await text.pressSequentially(typed);
    if (typed !== 'i') await text.press('Tab');
  }
  holds('a table is inserted, and Tab goes through its cells', await stored(tablePage, (doc) =>
    cells(doc) === '*a|*b|*c/d|e|f/g|h|i'));
  await text.press('Tab');
  await text.pressSequentially('j');
  holds('Tab after the last cell adds a row', await stored(tablePage, (doc) => cells(doc) === '*a|*b|*c/d|e|f/g|h|i/j||'));
  await text.press('Shift+Tab');
  await text.press('ArrowRight');
  await text.press('Shift+Tab');
  await accessible(page, 'a table in the editor');
  const bar = page.getByRole('toolbar', { name: 'Tabelle' });
  await bar.getByRole('button', { name: 'Spalte danach' }).click();
  await text.pressSequentially('n');
  holds('the bar adds a column', await stored(tablePage, (doc) => (cells(doc) ?? '').split('/')
    .every((row) => row.split('|').length === 4) && (cells(doc) ?? '').includes('h|n|i')));
  await command('spalte lösch');
  holds('the menu deletes a column', await stored(tablePage, (doc) => cells(doc) === '*a|*b|*c/d|e|f/g|h|i/j||'));
  await command('zeile darü');
  await text.pressSequentially('x');
  holds('a row is added above', await stored(tablePage, (doc) => /^\*a\|\*b\|\*c\/d\|e\|f\/x\|\|\/g /.test(cells(doc) ?? '')
    || cells(doc) === '*a|*b|*c/d|e|f/x||/g|h|i/j||'));
  for (let at = 0; at < 6; at += 1) await text.press('Shift+Tab');
  await bar.getByRole('button', { name: 'Zeile löschen' }).click();
  holds('after the header is deleted the next row is it', await stored(tablePage, (doc) =>
    cells(doc) === '*d|*e|*f/x||/g|h|i/j||'));
  await bar.getByRole('button', { name: 'Zeile darüber' }).click();
  await text.pressSequentially('k');
  holds('a row above the header is the header', await stored(tablePage, (doc) =>
    cells(doc) === '*k|*|*/d|e|f/x||/g|h|i/j||'));
  for (let at = 0; at < 14; at += 1) await text.press('Tab');
  await text.press('Enter');
  await text.pressSequentially('below');
  holds('Enter leaves the last cell', await stored(tablePage, (doc) => types(doc) === 'table paragraph'
    && textOf(doc.content[1]) === 'below'));
  await page.reload();
  await page.getByRole('table').waitFor();
  holds('the reader sees the table', await page.getByRole('columnheader').first().innerText() === 'k');
  await context.close();
}

for (const scenario of [menu, tables]) {
  try {
    await scenario();
  } catch (error) {
    wrong.push(`${scenario.name}: ${error.stack}`);
  }
}
await browser.close();
for (const one of wrong) console.log(`wrong: ${one}`);
process.exit(wrong.length ? 1 : 0);
