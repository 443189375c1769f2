// Texts whose pages are gone: lost by a failover, deleted, or not to be written any more. Two Chromium browsers on two
// replicas with a pair of database servers. Prints a line for each scenario that holds. Argument: what loss.py knows, as JSON.
import { readFileSync } from 'node:fs';
import { accessible, holds, judge, newPage, signIn } from './chromium.mjs';
import { lostTexts } from './loss_log.mjs';
import { given, pause, storedIn } from './loss_people.mjs';
import { act, api, blocks } from './loss_world.mjs';

const { fronts, people: [ada, bob], home, bob: bobId } = given;
const made = async (title) => (await api('POST', `/spaces/${home}/nodes`, { title, markdown: 'first\n' })).id;

async function until(look, show = () => '', ms = 60_000) {
  for (const end = Date.now() + ms; Date.now() < end; await pause(200)) if (await look()) return true;
  console.log(`never: ${JSON.stringify(await show())}`);
  return false;
}

async function edited(base, who, id, more = {}) {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 30_000);
  await signIn(page, base, who);
  await edit(page, base, id);
  return { context, page };
}

async function edit(page, base, id) {
  await page.goto(`${base}/w/p/${id}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await page.getByRole('textbox', { name: 'Text of the page' }).waitFor();
}

async function write(page, words, state = 'saved') {
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.press('Control+End');
  await text.pressSequentially(words);
  await page.locator(`[data-saving=${state}]`).waitFor();
}

/** Puts a file into the text without a network; it waits there. */
async function addFile(page, name) {
  await page.evaluate((called) => {
    const data = new DataTransfer();
    data.items.add(new File(['words in a file'], called, { type: 'text/plain' }));
    document.querySelector('.ProseMirror').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, name);
  await page.locator('.ProseMirror .upload').filter({ hasText: name }).waitFor();
  await until(async () => /notes-unsent=[^;]/.test(await page.evaluate(() => document.cookie)));
}

const files = (page) => page.locator('[data-lost-file]');
const list = (page) => page.locator('[data-lost-text]');
const shownText = async (page) => (await list(page).allInnerTexts()).join('|');
const pageOf = (page) => /\/w\/p\/([0-9a-f-]{36})/.exec(page.url())?.[1];
const named = async (title) => (await api('GET', `/spaces/${home}/tree`)).filter((one) => one.title === title).map(({ id }) => id);
const status = async (id) => {
  const answer = await fetch(`${fronts[0]}/api/v1/nodes/${id}`, { headers: { authorization: `Bearer ${given.token}` } });
  return answer.status;
};

/** The page was made, its words were accepted, and a failover has lost both. */
async function lostPages() {
  const old = await made('Old');
  const { context, page } = await edited(fronts[0], ada, old);
  await act('forget');
  const id = await made('Lost plan');
  await edit(page, fronts[0], id);
  await write(page, ' and accepted words');
  const second = await context.newPage();
  await edit(second, fronts[0], id);
  await write(second, ' by a tab that is closed');
  await second.close();
  await act('lose');
  holds('the server has lost the page', await until(async () => await status(id) === 404, () => status(id)));
  await list(page).first().waitFor({ timeout: 60_000 });
  holds('its accepted words are in the list, once',
    await until(async () => /first and accepted words by a tab that is closed/.test(await shownText(page)) && await list(page).count() === 1, () => shownText(page), 90_000));
  holds('they are in the browser as a draft', lostTexts(await page.evaluate(storedIn, ['drafts', 'bases'])).join().includes('Lost plan'));
  await accessible(page, 'a text whose page is gone, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'a text whose page is gone, dark');
  await page.setViewportSize({ width: 320, height: 640 });
  holds('at 320 pixels nothing is cut off', await page.evaluate(() => document.documentElement.scrollWidth <= 320));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${fronts[0]}/w`);
  await list(page).first().waitFor();
  holds('after a reload the list is there, on another screen, too', (await shownText(page)).includes('accepted words'));
  // Saved by the keyboard, into a database that loses that page, too.
  await act('heal');
  await act('forget');
  const save = list(page).getByRole('button', { name: 'Save as a new page' });
  await save.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/w/p/*');
  const first = pageOf(page);
  holds('the keyboard saves it as a new page', (await blocks(first)).join('|') === 'first and accepted words by a tab that is closed');
  holds('then the list is empty', await until(async () => await list(page).count() === 0));
  await act('lose');
  holds('that page is lost in turn', await until(async () => await status(first) === 404, () => status(first)));
  await page.goto(`${fronts[0]}/w`);
  holds('and its text is in the list again', await until(async () => (await shownText(page)).includes('accepted words'), () => shownText(page), 90_000));
  await act('heal');
  const again = list(page).getByRole('button', { name: 'Save as a new page' });
  await page.route('**/api/v1/spaces/*/nodes', async (route) => {
    await route.fetch();
    await route.abort();
  }, { times: 1 });
  await again.click();
  await until(async () => (await named('Lost plan')).length === 1, () => named('Lost plan'));
  await page.waitForTimeout(1000);
  await again.click();
  await page.waitForURL((url) => /\/w\/p\//.test(url) && !url.pathname.endsWith(first));
  const last = pageOf(page);
  await page.reload();
  await page.getByRole('heading', { name: 'Lost plan' }).first().waitFor();
  holds('saved twice since the first answer was lost, it is one page', (await named('Lost plan')).join() === last);
  holds('and saved again', (await blocks(last)).join('|').includes('by a tab that is closed') && await list(page).count() === 0);
  await context.close();
}

/** Somebody deletes the page while its writer has no network. */
async function deletedPages() {
  const id = await made('Deleted plan');
  const { context, page } = await edited(fronts[1], bob, id, { acceptDownloads: true });
  // The service worker has to have all of the workspace by then: it tries again at the next visit alone.
  await until(() => page.evaluate(async () => (await caches.keys()).length > 0 && navigator.serviceWorker.controller !== null));
  await context.setOffline(true);
  await write(page, ' and words without a network', 'kept');
  await addFile(page, 'with-words.txt');
  await api('DELETE', `/nodes/${id}`);
  await context.setOffline(false);
  await list(page).waitFor();
  holds('words without a network of a page that is gone are in the list', (await shownText(page)).includes('first and words without a network'));
  await context.setOffline(true);
  await page.reload();
  await list(page).waitFor();
  const saving = page.waitForEvent('download');
  await list(page).getByRole('button', { name: 'Save as a file' }).click();
  const saved = await saving;
  holds('without a network it is saved as a file, and stays', saved.suggestedFilename() === 'Deleted plan.txt'
    && readFileSync(await saved.path(), 'utf8').startsWith('Deleted plan\n\nfirst and words without a network')
    && await list(page).count() === 1);
  await context.setOffline(false);
  await page.evaluate(() => { localStorage.setItem('notes-preferences', JSON.stringify({ language: 'de' })); });
  await page.reload();
  await list(page).waitFor();
  holds('in German, too', /Als neue Seite speichern/.test(await shownText(page)));
  await files(page).waitFor();
  await list(page).getByRole('button', { name: 'Aufgeben' }).click();
  holds('so is its file, and the question names it', await page.getByRole('dialog').getByText('mit der Datei').count() === 1);
  await page.getByRole('dialog').getByRole('button', { name: 'Abbrechen' }).click();
  holds('giving it up is asked about', await list(page).count() === 1);
  await list(page).getByRole('button', { name: 'Aufgeben' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Aufgeben' }).click();
  holds('given up, it is gone', await until(async () => await list(page).count() === 0));
  holds('and its file', await until(async () => await files(page).count() === 0) && await until(async () => !/notes-unsent=[^;]/.test(await page.evaluate(() => document.cookie))));
  await page.reload();
  await page.waitForTimeout(2500);
  holds('and stays so', await list(page).count() === 0);
  await context.close();
  const own = await edited(fronts[1], bob, await made('In the trash'));
  await write(own.page, ' and accepted words');
  await api('DELETE', `/nodes/${pageOf(own.page)}`);
  await own.page.goto(`${fronts[1]}/w`);
  await own.page.waitForTimeout(3000);
  holds('accepted words of a page in the trash are no lost text', await list(own.page).count() === 0);
  await own.context.close();
}

/** Only a file waits for a page that is deleted meanwhile. */
async function deletedFiles() {
  const id = await made('Deleted album');
  const { context, page } = await edited(fronts[1], bob, id, { acceptDownloads: true });
  await context.setOffline(true);
  await addFile(page, 'album.txt');
  await page.goto('about:blank');
  await api('DELETE', `/nodes/${id}`);
  await context.setOffline(false);
  await page.goto(`${fronts[1]}/w`);
  await files(page).waitFor();
  holds('a file whose page is gone is listed with its size', /album\.txt\s+15 bytes/.test(await files(page).innerText()));
  await accessible(page, 'a file whose page is gone');
  await page.setViewportSize({ width: 320, height: 640 });
  holds('that list fits, too', await page.evaluate(() => document.documentElement.scrollWidth <= 320));
  const saving = page.waitForEvent('download');
  await files(page).getByRole('button', { name: 'Save on this device' }).click();
  holds('it is saved on the device', (await saving).suggestedFilename() === 'album.txt' && await files(page).count() === 1);
  await files(page).getByRole('button', { name: 'Delete it' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete it' }).click();
  holds('and deleted', await until(async () => await files(page).count() === 0) && await until(async () => !/notes-unsent=[^;]/.test(await page.evaluate(() => document.cookie))));
  await page.reload();
  await page.waitForTimeout(2500);
  holds('for good', await files(page).count() === 0);
  await context.close();
}

/** The writer loses the right to write, and gets it again. */
async function lostRights() {
  const id = await made('Refused plan');
  const { context, page } = await edited(fronts[1], bob, id);
  const members = await api('GET', `/spaces/${home}/members`);
  const grants = members.map(({ principal, kind, role }) => ({ principal, kind, role }));
  await context.setOffline(true);
  await write(page, ' and refused words', 'kept');
  await api('PUT', `/spaces/${home}/members`, { grants: grants.map((one) => (one.principal === bobId ? { ...one, role: 'viewer' } : one)) });
  await context.setOffline(false);
  await list(page).waitFor();
  holds('refused words are in the list, which says that there is no space for them',
    await until(async () => /first and refused words/.test(await shownText(page)) && /no space in which you may make pages/.test(await shownText(page)), () => shownText(page)));
  holds('the page has none of them', (await blocks(id)).join('|') === 'first');
  await api('PUT', `/spaces/${home}/members`, { grants });
  await page.reload();
  holds('with the right back, the page gets them by itself', await until(async () => (await blocks(id)).join('|') === 'first and refused words', () => blocks(id)));
  holds('and the list is empty', await until(async () => await list(page).count() === 0));
  await context.close();
}

/** A failover loses a page that was made without a network, and which is made again: two tabs wrote there. */
async function madeAgain() {
  const NODES = '**/api/v1/spaces/*/nodes';
  const { context, page } = await edited(fronts[0], ada, await made('Beside'));
  await act('forget');
  const refuse = (route) => route.fulfill({ status: 503, body: '' });
  await context.route(NODES, refuse);
  await page.goto(`${fronts[0]}/w`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.keyboard.press('n');
  await page.getByLabel('Title').fill('Made again');
  await page.keyboard.press('Enter');
  await write(page, 'words of one tab', 'kept');
  await context.unroute(NODES, refuse);
  await page.locator('[data-saving=saved]').waitFor({ timeout: 60_000 });
  const id = pageOf(page);
  holds('a page that was made without a network has its text', (await blocks(id)).join('|') === 'words of one tab');
  const second = await context.newPage();
  await edit(second, fronts[0], id);
  await write(second, ', and of another');
  await second.close();
  await context.route(NODES, refuse);
  await act('lose');
  await until(async () => await status(id) === 404, () => status(id));
  const isListed = async () => await list(page).count() === 1 && (await shownText(page)).includes('words of one tab, and of another');
  holds('lost, its text is in the list once', await until(isListed, () => shownText(page), 90_000));
  await pause(1000);
  await context.unroute(NODES, refuse);
  await page.goto(`${fronts[0]}/w`);
  await until(async () => await status(id) === 200, () => status(id));
  await edit(page, fronts[0], id);
  const words = async () => (await blocks(id)).join('|');
  // Which of the two comes first is not said.
  const both = ['words of one tab, and of another', ', and of anotherwords of one tab'];
  holds('made again, it has the words of both tabs', await until(async () => both.includes(await words()), words, 40_000));
  holds('and nothing is in the list', await until(async () => await list(page).count() === 0, () => shownText(page)));
  await act('heal');
  await context.close();
}

await judge(lostPages, deletedPages, deletedFiles, lostRights, madeAgain);
