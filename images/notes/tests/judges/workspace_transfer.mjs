// Uses import, export and jobs in Chromium, and prints a line for each scenario that holds.
// Arguments: two addresses (the same), and the people, a token, ids, and the folder of zips as JSON.
import { readFileSync } from 'node:fs';
import { ada, accessible, api, bob, first as base, holds, judge, newPage, pages, signIn, until } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const LOOKS = {
  light: {},
  dark: { colorScheme: 'dark' },
  'forced colours': { forcedColors: 'active' },
  'a phone': PHONE,
  german: {},
  'right to left': {},
};
const zip = (name) => `${pages.files}/${name}.zip`;

async function person(who, more = {}) {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 30_000);
  await signIn(page, base, who);
  return { context, page };
}

const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const said = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
const treeOf = async (space) => (await api('GET', `/spaces/${space}/tree`)).map((one) => one.title).sort().join();
const button = (page, name) => page.getByRole('button', { name, exact: true });

async function choose(page, name) {
  await page.locator('input[type=file]').setInputFiles(zip(name));
  await button(page, 'Show the preview').click();
}

const speak = (context, language) => context.addInitScript((wanted) => localStorage
  .setItem('notes-preferences', JSON.stringify({ language: wanted })), language);

async function looks(name, path, opened) {
  for (const [look, more] of Object.entries(LOOKS)) {
    const { context, page } = await person(ada, more);
    const language = { german: 'de', 'right to left': 'qps' }[look];
    if (language) await speak(context, language);
    await page.goto(base + path);
    await opened(page);
    await accessible(page, `${name}, ${look}`);
    if (more === PHONE) {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      holds(`${name} does not scroll sideways at 320 px`, wide <= 320);
    }
    await context.close();
  }
}

async function previewed() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/s/${pages.space}`);
  await page.getByRole('main').getByRole('link', { name: 'Import pages' }).click();
  await heading(page, 'Import into “Team”');
  await button(page, 'Show the preview').click();
  await page.getByRole('alert').filter({ hasText: 'Choose a zip first.' }).waitFor();
  holds('without a file it says what is missing, and the focus is there',
    await page.evaluate(() => document.activeElement?.getAttribute('type')) === 'file');
  await looks('the first step of an import', `/w/s/${pages.space}/import`, (one) => one.locator('.drop').waitFor());
  const before = await treeOf(pages.space);
  await choose(page, 'handbook');
  await page.locator('[data-page=Keys]').waitFor();
  holds('the preview shows every page in its place', await page.locator('.preview-tree li').allTextContents()
    .then((all) => all.length === 4 && all.join('|').includes('First day below “Handbook”')
      && all.join('|').includes('Keys below “First day”')));
  holds('it tells what is there already', await page.locator('[data-page=Plan]').textContent()
    .then((text) => text.includes('is there already')));
  holds('it tells of attachments', await page.locator('[data-page=Handbook]').textContent()
    .then((text) => text.includes('1 file')));
  await page.locator('[data-outcome="left out"]', { hasText: '._Plan.md' }).waitFor();
  holds('it tells what is left out and changed, and why', await page.locator('.lines').textContent()
    .then((text) => text.includes('a file of the operating system') && text.includes('gone.md')));
  holds('nothing is written', await treeOf(pages.space) === before);
  const address = page.url();
  await page.reload();
  await page.locator('[data-page=Keys]').waitFor();
  holds('a reload shows the preview again', page.url() === address);
  await looks('a preview', new URL(address).pathname + new URL(address).search, (one) => one.locator('[data-page=Keys]').waitFor());
  const tab = await context.newPage();
  await tab.goto(`${base}/w/s/${pages.space}/import`);
  await tab.getByRole('link', { name: 'Open handbook.zip' }).click();
  await tab.locator('[data-page=Keys]').waitFor();
  holds('a second tab finds the preview', tab.url() === address);
  await button(tab, 'Import 4 pages').focus();
  await tab.keyboard.press('Enter');
  await heading(tab, '“handbook.zip” is imported');
  holds('the import makes the pages', await treeOf(pages.space)
    === [...before.split(','), 'First day', 'Handbook', 'Keys', 'Plan'].sort().join());
  await accessible(tab, 'the report of an import');
  await tab.locator('.new-pages').getByRole('link', { name: 'Handbook' }).first().click();
  await heading(tab, 'Handbook');
  await tab.locator('main img').first().waitFor();
  holds('the report leads to the pages', tab.url().startsWith(`${base}/w/p/`));
  await tab.close();
  await page.reload();
  await heading(page, '“handbook.zip” is imported');
  holds('the first tab finds the report', await page.getByText('Every file of the zip').count() === 1);
  await page.getByText('Every file of the zip').click();
  await page.locator('[data-outcome=file]').first().waitFor();
  holds('the report has every file of the zip', await page.locator('details tbody tr').count() === 6);
  await context.close();
}

async function repeated() {
  const { context, page } = await person(ada);
  const before = await treeOf(pages.space);
  await page.goto(`${base}/w/s/${pages.space}/import`);
  await choose(page, 'handbook');
  await page.getByText('This zip was imported here before').waitFor();
  holds('a zip that is there already can be copied or replaced', await page.getByRole('radio').count() === 2);
  await accessible(page, 'a preview of a known zip');
  await button(page, 'Discard').click();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.getByRole('radio', { name: /^Replace/ }).check();
  await button(page, 'Import 4 pages').click();
  await heading(page, '“handbook.zip” is imported');
  holds('a replacement puts the former pages into the trash', await treeOf(pages.space) === before
    && (await api('GET', `/spaces/${pages.space}/trash`)).length > 0);
  await page.goto(`${base}/w/s/${pages.space}/import?parent=${pages.plan}`);
  await page.getByText('The pages will be below “Plan”.').waitFor();
  await choose(page, 'handbook');
  await page.locator('[data-page=Keys]').waitFor();
  await button(page, 'Discard').click();
  await page.locator('dialog [data-yes]').click();
  await said(page, 'The preview is discarded.');
  await heading(page, 'Import into “Team”');
  holds('a discarded preview leaves nothing', await treeOf(pages.space) === before
    && await page.getByText('wait for you').count() === 0);
  await choose(page, 'broken');
  await heading(page, '“broken.zip” was not imported');
  holds('a broken zip is refused with the reason', await page.getByRole('alert').textContent() === 'This is not a zip file, or a damaged one.');
  await accessible(page, 'a failed import');
  const address = page.url();
  await context.close();
  const german = await person(ada);
  await speak(german.context, 'de');
  await german.page.goto(address);
  await german.page.getByText('Das ist kein Zip, oder ein beschädigtes.').waitFor();
  holds('the reason is in the language of the workspace', true);
  await german.context.close();
}

/** A reload while a large zip is uploaded: the same file goes on, and no chunk is sent twice. */
async function resumed() {
  const { context, page } = await person(ada);
  const arrived = [];
  await page.route('**/imports/uploads', async (route) => {
    const number = route.request().headers()['upload-chunk'];
    if (number === undefined) return route.continue();
    if (arrived.length === 2 && !page.isLate) return route.abort();
    arrived.push(number);
    return route.continue();
  });
  await page.goto(`${base}/w/s/${pages.other}/import`);
  await choose(page, 'large');
  await until(() => arrived.length === 2);
  await page.waitForTimeout(300);
  holds('a large upload tells how far it is', await page.locator('.progress').textContent().then((text) => /Uploading: .* of 17/.test(text)));
  await page.reload();
  page.isLate = true;
  await page.getByText('The upload of “large.zip” was interrupted.').waitFor();
  await choose(page, 'large');
  await page.locator('[data-page=Film]').waitFor();
  holds('after a reload the upload goes on where it stopped', arrived.length === 5 && new Set(arrived).size === 5);
  await button(page, 'Import 1 page').click();
  await heading(page, '“large.zip” is imported');
  holds('the large zip is imported', await treeOf(pages.other) === 'Film');
  await context.close();
}

async function exported() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.plan}`);
  await heading(page, 'Plan');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Export', exact: true }).click();
  await heading(page, 'Export “Plan”');
  await page.getByLabel('All versions').check();
  let [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
  await file.saveAs(zip('plan'));
  await page.getByText('The file is among your downloads.').waitFor();
  const text = readFileSync(zip('plan')).toString('latin1');
  holds('a page is exported with the pages below it', file.suggestedFilename() === 'Plan.zip'
    && text.startsWith('PK') && text.includes('Plan/Below.md') && text.includes('notes-export.json'));
  await page.getByRole('radio', { name: /^Only this page/ }).check();
  [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
  await file.saveAs(zip('only'));
  holds('one page is exported as Markdown', file.suggestedFilename() === 'Plan.md'
    && readFileSync(zip('only')).toString().includes('We release on Tuesday.'));
  await page.getByRole('radio', { name: /^A zip/ }).check();
  let saved = 0;
  page.on('download', () => { saved += 1; });
  await page.route('**/export?*', (route) => route.abort('connectionreset'));
  await button(page, 'Export').click();
  await page.getByRole('alert').filter({ hasText: 'no file was saved' }).waitFor();
  holds('an export that breaks off saves nothing', saved === 0);
  await page.unroute('**/export?*');
  await page.goto(`${base}/w/s/${pages.other}/export`);
  await heading(page, 'Export “Films”');
  await page.getByText('Also in the zip').waitFor();
  [file] = await Promise.all([page.waitForEvent('download'), button(page, 'Export').click()]);
  await file.saveAs(zip('films'));
  holds('a space is exported', readFileSync(zip('films')).length > 17_000_000);
  await looks('an export', `/w/p/${pages.plan}/export`, (one) => one.locator('input[name=history]').waitFor());
  await context.close();
}

async function jobs() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/s/${pages.other}/import`);
  await choose(page, 'plan');
  await page.locator('[data-page=Below]').waitFor();
  await page.goto(`${base}/w/p/${pages.plan}`);
  await heading(page, 'Plan');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('your jobs');
  await page.keyboard.press('Enter');
  await heading(page, 'Your jobs');
  const waits = page.locator('[data-job]', { hasText: 'Waits for you' });
  holds('the jobs show what waits, what is done, and what failed and why', await waits.count() === 1
    && await page.locator('[data-state=failed]').textContent().then((text) => text.includes('not a zip file'))
    && await page.locator('[data-state=done]').count() >= 3);
  await looks('the jobs', '/w/jobs', (one) => one.locator('[data-job]').first().waitFor());
  await waits.getByRole('button').click();
  await page.locator('dialog [data-yes]').click();
  await waits.waitFor({ state: 'detached' });
  holds('a preview is discarded from the list', (await api('GET', '/jobs')).every((one) => one.kind !== 'import-preview' || one.state === 'failed'));
  await context.close();
}

/** An administrator among everybody's jobs; the others have their own alone. */
async function everybody() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/jobs`);
  await page.getByRole('combobox', { name: 'Whose jobs' }).selectOption("Everybody's");
  await heading(page, 'The jobs of everybody');
  const theirs = page.locator('[data-job]', { hasText: 'Bob · Preview of an import' });
  await theirs.waitFor();
  holds('an administrator sees whose jobs there are, and opens none of others', await theirs.getByRole('link').count() === 0);
  await accessible(page, 'the jobs of everybody');
  await page.getByRole('combobox', { name: 'Whose jobs' }).selectOption({ label: 'Bob (bob@example.org)' });
  await page.locator('[data-job]').nth(1).waitFor({ state: 'detached' });
  holds('the jobs of one person are listed alone', await theirs.count() === 1);
  await page.getByRole('combobox', { name: 'State' }).selectOption('Failed');
  await theirs.waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'State' }).selectOption('Any');
  await theirs.getByRole('button').click();
  await page.getByText('Cancel this import of Bob? Nothing of it stays.').waitFor();
  await page.locator('dialog [data-yes]').click();
  await theirs.waitFor({ state: 'detached' });
  await context.close();
  const other = await person(bob);
  await other.page.goto(`${base}/w/jobs`);
  await other.page.getByText('You have not imported anything yet.').waitFor();
  holds('they cancel it; who is none sees the own jobs alone', await other.page.getByRole('combobox', { name: 'Whose jobs' }).count() === 0);
  await other.context.close();
}

async function refused() {
  const { context, page } = await person(bob);
  await page.goto(`${base}/w/s/${pages.space}/import`);
  await heading(page, 'You may not import into this space');
  holds('who may only read reads so', await page.locator('input[type=file]').count() === 0);
  await context.close();
}

await judge(previewed, repeated, resumed, exported, jobs, everybody, refused);
