// Uses the files of a page in Chromium, and prints a line for each scenario that holds.
// Arguments: two addresses (the same), and the people, a token and ids as JSON. Bob only reads.
import { readFile } from 'node:fs/promises';
import {
  accessible, ada, api, bob, edit, first as base, heading, holds, isFocused, judge, LOOKS, pages, person, until,
} from './workspace_tools.mjs';

const AT = `/w/p/${pages.page}/files`;

const listed = (id = pages.page) => api('GET', `/nodes/${id}/attachments`);

async function files() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.page}`);
  await heading(page, 'Plan');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Files of the page' }).press('Enter');
  await heading(page, 'Files of “Plan”');
  holds('the menu of a page opens its files', page.url() === base + AT && await isFocused(page.locator('#title')));
  await page.getByText('2 files', { exact: false }).waitFor();
  const table = page.locator('[data-file]', { hasText: 'table.csv' });
  const sketch = page.locator('[data-file]', { hasText: 'sketch.png' });
  await sketch.getByText('in the text 2 times').waitFor();
  const text = await table.innerText();
  holds('a file has its size, its moment and who has added it', /8 kB/.test(text) && text.includes('added this minute') && text.includes('by Ada'));
  holds('it says which files the text has', text.includes('not in the text'));
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download table.csv' }).press('Enter')]);
  const bytes = await readFile(await download.path());
  holds('a file is downloaded under its name', download.suggestedFilename() === 'table.csv' && bytes.length === 8000);
  const remove = page.getByRole('button', { name: 'Delete sketch.png' });
  await remove.focus();
  await page.keyboard.press('Enter');
  const question = page.locator('dialog');
  await question.getByText('in 2 places, which stay and show nothing then').waitFor();
  holds('before it deletes, it says what becomes of the text', (await question.innerText()).includes('in older versions, in comments and on other pages'));
  holds('the focus begins on Cancel', await isFocused(question.getByRole('button', { name: 'Cancel' })));
  await accessible(page, 'the question before a file is deleted');
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  holds('Escape deletes nothing', (await listed()).length === 2 && await isFocused(remove));
  await context.setOffline(true);
  await remove.click();
  await question.locator('[data-yes]').click();
  await page.locator('.notice', { hasText: 'The server is not reached.' }).waitFor();
  holds('offline nothing is deleted', (await listed()).length === 2 && await sketch.count() === 1);
  await context.setOffline(false);
  await remove.click();
  await question.locator('[data-yes]').press('Enter');
  await sketch.waitFor({ state: 'detached' });
  holds('a deleted file is gone', (await listed()).map((one) => one.name).join() === 'table.csv');
  holds('then the focus is on the heading', await isFocused(page.locator('#title')));
  await page.getByRole('button', { name: 'Delete table.csv' }).click();
  await question.getByText('The text of the page does not have it.').waitFor();
  await question.locator('[data-yes]').click();
  await page.getByText('This page has no files.').waitFor();
  holds('the last file can be deleted', await until(async () => (await listed()).length === 0));
  await context.close();
}

/** A large file waits as long as its person wants, also after a reload, and goes on where it was. */
async function paused() {
  const { context, page } = await person(ada);
  const sent = [];
  let isHeld = true;
  await page.route('**/uploads', (route) => {
    const number = route.request().headers()['upload-chunk'];
    if (number === undefined) return route.continue();
    sent.push(Number(number));
    return isHeld && Number(number) > 1 ? undefined : route.continue();
  });
  await page.goto(`${base}/w/p/${pages.shown}`);
  const text = await edit(page);
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), text.dispatchEvent('pick')]);
  await chooser.setFiles({ name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(17 * 1024 * 1024) });
  const pause = page.getByRole('button', { name: 'Pause: large.bin' });
  await until(() => sent.length === 5);
  await page.waitForTimeout(1000);
  await accessible(page, 'a large file on its way');
  await text.press('Escape');
  await text.press('Tab');
  holds('the keyboard comes to Pause', await isFocused(pause));
  await page.keyboard.press('Enter');
  await page.locator('.notice', { hasText: 'large.bin: upload paused' }).waitFor();
  const upload = page.locator('.upload');
  const resume = upload.getByRole('button', { name: 'Resume: large.bin' });
  holds('a paused upload says so, and the focus is on Resume', (await upload.innerText()).includes('large.bin: upload paused') && await isFocused(resume));
  await accessible(page, 'a paused upload');
  await page.getByRole('button', { name: 'Done' }).click();
  isHeld = false;
  sent.length = 0;
  await page.waitForTimeout(500);
  await page.reload();
  await edit(page);
  await resume.waitFor();
  await page.waitForTimeout(1500);
  holds('it waits after Done and a reload, too', sent.length === 0);
  await resume.press('Enter');
  const named = async () => (await listed(pages.shown)).map((one) => one.name);
  holds('it goes on with what the server does not have', await until(async () => (await named()).includes('large.bin'))
    && sent.sort().join() === '2,3,4');
  await page.locator('.ProseMirror a', { hasText: 'large.bin' }).waitFor();
  holds('and comes to its place', await upload.count() === 0);
  await context.close();
}

async function reader() {
  const { context, page } = await person(bob);
  await page.goto(`${base}/w/p/${pages.shown}/files`);
  await heading(page, 'Files of “Shown”');
  await page.locator('[data-file]').waitFor();
  holds('who only reads deletes nothing', await page.getByRole('button', { name: /^Delete/ }).count() === 0
    && await page.getByRole('link', { name: 'Download shown.txt' }).count() === 1);
  await page.goto(`${base}/w/p/${pages.closed}/files`);
  await heading(page, 'This page does not exist');
  holds('the files of a page that one may not see do not exist', await page.locator('[data-file]').count() === 0);
  await context.close();
}

async function looks() {
  for (const [look, more] of Object.entries(LOOKS)) {
    const { context, page } = await person(ada, more);
    await page.goto(`${base}/w/p/${pages.shown}/files`);
    await page.getByText('not in the text').waitFor();
    await accessible(page, `the files of a page, ${look}`);
    if (look === 'phone') holds('320 pixels are wide enough', await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await context.close();
  }
  const { context, page } = await person(ada, { locale: 'de-DE' });
  await page.goto(`${base}/w/p/${pages.shown}/files`);
  await heading(page, 'Dateien von „Shown“');
  holds('the screen is German', await page.getByRole('link', { name: 'shown.txt herunterladen' }).count() === 1);
  await context.close();
}

await judge(files, reader, looks, paused);
