// One person inserts blocks by the menu behind `/`, uploads pictures, and works in a table. Prints a line for each
// scenario that holds. Arguments: the address of a replica, and a user, a token and page ids as JSON.
import { readFileSync } from 'node:fs';
import { accessible, holds, judge, newPage, signIn } from './chromium.mjs';

const [base, given] = process.argv.slice(2);
const { ada, token, menu: menuPage, table: tablePage, pictures: picturePage } = JSON.parse(given);

async function opened(id, more = {}) {
  const { context, page } = await newPage(more);
  await signIn(page, base, ada);
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
    && /\d+ results/.test(await page.locator('[data-count-of=blocks]').innerText()));
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

// One pixel as PNG, and as a file of more than 8 MB with what decoders pass over behind its end.
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const LARGE = Buffer.concat([PIXEL, Buffer.alloc(9 * 1024 * 1024, 7)]);
const images = (doc) => JSON.stringify(doc).match(/"type":"image"/g)?.length ?? 0;

/** Pastes or drops a picture as a browser does. */
async function give(page, kind, name) {
  await page.evaluate(([event, file, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(bytes)], file, { type: 'image/png' }));
    const dom = document.querySelector('.ProseMirror');
    const box = dom.firstElementChild.getBoundingClientRect();
    const more = { bubbles: true, cancelable: true };
    dom.dispatchEvent(event === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, ...more })
      : new DragEvent('drop', { dataTransfer: data, clientX: box.left + 2, clientY: box.top + 5, ...more }));
  }, [kind, name, [...PIXEL]]);
}

async function pictures() {
  const { context, page, text } = await opened(picturePage);
  const calls = [];
  page.on('request', (one) => {
    if (one.method() === 'POST' && one.url().endsWith('/uploads')) calls.push(one.headers()['content-type'].split(';')[0]);
  });
  await text.press('Control+End');
  await text.pressSequentially('before ');
  await give(page, 'paste', 'pasted.png');
  await text.pressSequentially('after');
  holds('a pasted picture is uploaded to its place', await stored(picturePage, (doc) =>
    doc.content[0].content?.map((node) => node.type === 'image' ? node.attrs.alt : node.text).join('|') === 'before |pasted|after'));
  holds('and is shown', await text.locator('img').evaluate((one) => one.decode().then(() => one.naturalWidth === 1)));
  await give(page, 'drop', 'dropped.png');
  holds('a dropped picture, too', await stored(picturePage, (doc) => images(doc) === 2));
  holds('small files go as forms', calls.length === 2 && calls.every((one) => one === 'multipart/form-data'));
  let chunks = 0;
  await page.route('**/uploads', async (route) => {
    const isChunk = route.request().headers()['upload-chunk'] !== undefined;
    chunks += isChunk ? 1 : 0;
    if (isChunk && chunks === 2) await route.abort();
    else await route.continue();
  });
  await text.press('Control+End');
  await text.pressSequentially(' /pict');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), text.press('Enter')]);
  await chooser.setFiles({ name: 'large.png', mimeType: 'image/png', buffer: LARGE });
  holds('a picked large file goes in chunks, and a lost one is repeated', await stored(picturePage, (doc) => images(doc) === 3)
    && chunks === 4);
  await page.unroute('**/uploads');
  // The server refuses: the file stays in its place until a person decides.
  await page.route('**/uploads', (route) => route.fulfill({ status: 413, json: { detail: 'The quota is used up.' } }));
  await text.press('Control+End');
  await give(page, 'paste', 'refused.png');
  const upload = page.locator('.upload');
  await upload.getByText('The quota is used up.').waitFor();
  holds('a refused file stays, with the reason and what to do', /Try again, or save the file/.test(await upload.innerText()));
  await accessible(page, 'a failed upload');
  const [saved] = await Promise.all([page.waitForEvent('download'),
    upload.getByRole('button', { name: 'Save on this device' }).click()]);
  holds('it can be saved on the device', readFileSync(await saved.path()).equals(PIXEL) && saved.suggestedFilename() === 'refused.png');
  await page.getByRole('button', { name: 'Done' }).click();
  await text.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await upload.getByRole('button', { name: 'Try again' }).waitFor();
  await page.unroute('**/uploads');
  await text.press('Escape');
  await text.press('Tab');
  holds('Escape, then Tab leads to it', await page.evaluate(() => document.activeElement.textContent) === 'Try again');
  await page.keyboard.press('Enter');
  holds('it is uploaded when tried again, also after Done', await stored(picturePage, (doc) => images(doc) === 4));
  // One that hangs is given up.
  await page.route('**/uploads', () => undefined);
  await text.press('Control+End');
  await give(page, 'paste', 'slow.png');
  await upload.getByRole('progressbar', { name: 'Upload of slow.png' }).waitFor();
  await accessible(page, 'an upload');
  await upload.getByRole('button', { name: 'Cancel' }).click();
  await upload.waitFor({ state: 'detached' });
  holds('an upload is cancelled', images(await docOf(picturePage)) === 4);
  await context.close();
}

const cells = (doc) => doc.content.find((node) => node.type === 'table')?.content
  .map((row) => row.content.map((cell) => (cell.type === 'tableHeader' ? `*${textOf(cell)}` : textOf(cell))).join('|'))
  .join('/');

async function tables() {
  const { context, page, text } = await opened(tablePage, { locale: 'de-DE' });
  const list = page.getByRole('listbox', { name: 'Block einfügen' });
  const command = async (typed) => {
    await text.pressSequentially(typed);
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
  holds('the bar adds a column', await stored(tablePage, (doc) => cells(doc) === '*a|*b|*c|*/d|e|f|/g|h|i|n/j|||'));
  await command(' /spalte lösch');
  holds('the menu deletes a column', await stored(tablePage, (doc) => cells(doc) === '*a|*b|*c/d|e|f/g|h|i/j||'));
  await command('/zeile darü');
  await text.pressSequentially('x');
  holds('a row is added above', await stored(tablePage, (doc) => cells(doc) === '*a|*b|*c/d|e|f/x||/g|h|i/j||'));
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

await judge(menu, pictures, tables);
