// Pastes what is large or odd, and has a change refused; prints a line for each scenario that holds: what is pasted is saved, and
// one change that the server refuses holds up nothing else. A newer version of the application takes the store over.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { accessible, ada, api, docOf, first, holds, isSaved, judge, opened, pages, textOf, until } from './workspace_tools.mjs';

const { space_id: space } = await api('GET', `/nodes/${pages.home}`);
const MAY = { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true };
const line = (text) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const make = async (title, content) => (await api('POST', `/spaces/${space}/nodes`, { title, doc: { type: 'doc', content } })).id;
const refused = (page) => page.locator('[data-saving=refused]');
async function pasteHtml(page, html) {
  await page.evaluate((words) => navigator.clipboard.write([new ClipboardItem({ 'text/html': new Blob([words], { type: 'text/html' }) })]), html);
  await page.keyboard.press('Control+v');
}
async function atEnd(page, text) {
  await text.focus();
  await page.keyboard.press('Control+End');
}
const rowsOf = (doc) => doc.content.flatMap((one) => (one.type === 'table' ? one.content : [])).length;

async function large() {
  const id = await make('Table', [line('before'), line('')]);
  const { context, page, text } = await opened(first, ada, id, MAY);
  await atEnd(page, text);
  const row = `<tr>${'<td>some value 123</td>'.repeat(10)}</tr>`;
  await pasteHtml(page, `<table>${row.repeat(1_000)}</table>`);
  holds('a table of 10,000 cells is pasted and saved', await until(async () => rowsOf(await docOf(id)) === 1_000, async () => [rowsOf(await docOf(id)), await refused(page).count()]));
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  holds('it is deleted', await until(async () => textOf(await docOf(id)) === '', async () => textOf(await docOf(id)).slice(0, 99)));
  await page.keyboard.press('Control+z');
  holds('and comes back', await until(async () => rowsOf(await docOf(id)) === 1_000, async () => rowsOf(await docOf(id))));
  await isSaved(page);
  await context.close();
}

async function odd() {
  const id = await make('Odd', [
    { type: 'paragraph', content: [{ type: 'text', text: 'see' }, { type: 'footnoteReference', attrs: { label: '1' } }] },
    { type: 'footnote', attrs: { label: '1' }, content: [line('of old')] },
  ]);
  const { context, page, text } = await opened(first, ada, id, MAY);
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('End');
  await pasteHtml(page, '<p>x</p><h3 data-level="2.1">Section</h3><ol start="99999999999"><li>x</li></ol><p>and<sup data-label="a b">?</sup></p>');
  holds('a heading of another page is one here', await until(async () => (await docOf(id)).content.some((one) => one.type === 'heading' && one.attrs.level === 3), async () => JSON.stringify(await docOf(id)).slice(0, 400)));
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Control+v');
  const notes = async () => (await docOf(id)).content.filter((one) => one.type === 'footnote').map((one) => one.attrs.label);
  holds('a copied footnote has a label of its own', await until(async () => (await notes()).join() === '1,1-2', notes));
  holds('the server has refused nothing', await refused(page).count() === 0);
  await context.close();
}

async function one() {
  const id = await make('Refused', [line('one'), line('two')]);
  const { context, page, text } = await opened(first, ada, id, MAY);
  await page.route('**/edits', (route) => (/bad/.test(route.request().postData() ?? '')
    ? route.fulfill({ status: 422, contentType: 'application/problem+json', body: JSON.stringify({ status: 422, title: 'Unprocessable', detail: 'steps[0]: this is refused' }) })
    : route.continue()));
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.evaluate(() => navigator.clipboard.writeText('bad '));
  await page.keyboard.press('Control+v');
  const out = page.getByRole('button', { name: 'Leave this change out' });
  await out.waitFor();
  holds('a refused change and its reason are shown', (await page.getByRole('alert').innerText()).includes('this is refused'));
  await atEnd(page, text);
  await page.keyboard.type(' and more');
  holds('what is written after it waits, and nothing is taken away', (await text.innerText()).includes('bad one') && textOf(await docOf(id)) === 'one|two');
  await accessible(page, 'a refused change, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'a refused change, dark');
  await out.click();
  holds('without it, the rest is saved', await until(async () => textOf(await docOf(id)) === 'one|two and more', async () => textOf(await docOf(id))));
  await isSaved(page);
  holds('and its words are in the list', (await page.locator('[data-doubt]').first().innerText()).includes('bad one'));
  await context.close();
}

async function newer() {
  const id = await make('Newer', [line('one')]);
  const { context, page, text } = await opened(first, ada, id, MAY);
  await page.route('**/edits', (route) => route.abort());
  await atEnd(page, text);
  await page.keyboard.type(' unsent');
  await page.evaluate(() => { window.isSame = true; });
  const other = await context.newPage();
  await other.goto(`${first}/api/v1/openapi.json`);
  // As a tab with the next version of the application opens the store.
  const drafts = await other.evaluate(() => new Promise((done, fail) => {
    const opening = indexedDB.open('notes', 1_000);
    opening.onerror = () => fail(opening.error);
    opening.onsuccess = () => {
      const all = opening.result.transaction('drafts').objectStore('drafts').getAll();
      all.onsuccess = () => done(all.result.flatMap((draft) => draft.steps).map((step) => step.slice.content[0].text).join(''));
    };
  }));
  holds('what was typed is in the store for the newer version', drafts.includes('unsent'));
  holds('a tab that can store nothing more begins again', await until(() => page.evaluate(() => !window.isSame).catch(() => false), () => page.url()));
  await context.close();
}

await judge(large, odd, one, newer);
