// Uses the screens around a page (share, history, trash) in Chromium, and prints a line for each scenario that holds.
// Arguments: two addresses (the same), and the people, a token and the ids of pages as JSON.
import { ada, accessible, api, bob, first as base, holds, judge, newPage, pages, signIn, until, wrong } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };

async function person(who, more = {}) {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 30_000);
  await signIn(page, base, who);
  return { context, page };
}

const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const said = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
const closed = (page) => page.locator('dialog').waitFor({ state: 'detached' });
const linksOf = (id) => api('GET', `/nodes/${id}/shares`);
const statusOf = async (url) => (await fetch(base + new URL(url).pathname)).status;

async function share() {
  const { context, page } = await person(ada, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(`${base}/w/p/${pages.plan}`);
  await heading(page, 'Plan');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Share by a link' }).click();
  await heading(page, 'Share “Plan”');
  holds('the menu of a page opens its links', page.url() === `${base}/w/p/${pages.plan}/share`);
  holds('the heading has the focus', await page.evaluate(() => document.activeElement?.id) === 'title');
  await page.getByLabel('Password').fill('open sesame');
  await page.getByLabel('Ends on').fill('2999-05-04');
  await page.getByLabel('With the pages below this one').check();
  await page.getByRole('button', { name: 'Create the link' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('[data-share]').waitFor();
  const [made] = await linksOf(pages.plan);
  holds('a link has what the form says', made.has_password && made.include_children
    && new Date(made.expires_at).getFullYear() === 2999);
  holds('the link is shown', await page.getByRole('link', { name: made.url }).count() === 1);
  holds('the link asks for its password', await statusOf(made.url) === 401);
  await page.getByRole('button', { name: /Copy the link/ }).click();
  await said(page, 'The link is copied.');
  holds('the address is copied', await page.evaluate(() => navigator.clipboard.readText()) === made.url);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Take the password away').check();
  await page.getByLabel('Ends on').first().fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await said(page, 'Its address is the same');
  const [changed] = await linksOf(pages.plan);
  holds('a link is changed at its address', changed.url === made.url && !changed.has_password
    && changed.expires_at === null && changed.include_children);
  holds('the changed link shows the page', await statusOf(made.url) === 200);
  await page.getByRole('button', { name: 'QR code' }).click();
  const code = page.getByRole('img', { name: `QR code of ${made.url}` });
  await code.waitFor();
  holds('the QR code is drawn', await until(() => code.evaluate((img) => img.complete && img.naturalWidth > 20)));
  await page.getByRole('button', { name: 'Visits' }).click();
  await page.getByText('1 visit', { exact: true }).waitFor();
  await page.getByText('As a table').click();
  holds('the visits are a chart and a table', await page.locator('.chart rect').count() === 90
    && await page.getByRole('row').count() === 2);
  await accessible(page, 'share, with visits');
  await context.setOffline(true);
  await page.getByRole('button', { name: 'End the link' }).click();
  await page.locator('dialog [data-yes]').click();
  await said(page, 'The server is not reached.');
  await closed(page);
  holds('offline nothing is ended', (await linksOf(pages.plan)).length === 1);
  await context.setOffline(false);
  await page.getByRole('button', { name: 'End the link' }).click();
  await page.keyboard.press('Escape');
  await closed(page);
  holds('Escape ends nothing', (await linksOf(pages.plan)).length === 1);
  await page.getByRole('button', { name: 'End the link' }).click();
  await page.locator('dialog [data-yes]').click();
  await page.getByText('Nobody can read this page by a link yet.').waitFor();
  holds('an ended link is of no use', await statusOf(made.url) === 404);
  await context.close();
}

async function history() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.plan}`);
  await heading(page, 'Plan');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'History' }).click();
  await heading(page, 'History of “Plan”');
  await page.locator('[data-version="2"] .chip').waitFor();
  await page.getByRole('link', { name: 'Changes in version 2' }).click();
  await heading(page, 'Version 1 and version 2');
  await page.locator('.difference ins').first().waitFor();
  holds('the difference has the words', (await page.locator('.difference ins').allTextContents()).join().includes('Friday')
    && (await page.locator('.difference del').allTextContents()).join().includes('Tuesday'));
  await accessible(page, 'difference');
  await page.getByRole('link', { name: 'Show version 2' }).click();
  await page.getByLabel('Compare with').selectOption('1');
  await page.waitForURL('**/history?version=2&old=1');
  holds('a version is compared with the one that is chosen', true);
  await page.getByRole('link', { name: 'All versions' }).click();
  await page.getByRole('link', { name: 'Show version 1' }).click();
  await page.locator('.old-text', { hasText: 'We release on Tuesday.' }).waitFor();
  holds('an older version is shown', true);
  // Somebody saves meanwhile.
  await api('PUT', `/nodes/${pages.plan}`, { base_version: 2, markdown: 'We do not release.\n' });
  await page.getByRole('button', { name: 'Restore this version' }).click();
  await page.locator('dialog [data-yes]').click();
  await page.waitForURL(`${base}/w/p/${pages.plan}`);
  await page.locator('.prose', { hasText: 'We release on Tuesday.' }).waitFor();
  holds('a restored version is the page', true);
  const listed = await api('GET', `/nodes/${pages.plan}/revisions`);
  holds('a restore loses no version', listed.length === 4 && listed[0].restored_from === 1);
  await page.goto(`${base}/w/p/${pages.plan}/history`);
  await page.getByText('Restored from version 1').waitFor();
  await api('PUT', `/nodes/${pages.plan}`, { base_version: 4, markdown: 'Later.\n' });
  await page.locator('[data-version="5"]').waitFor();
  holds('a new version appears without a reload', true);
  await context.close();
}

async function trash() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.old}`);
  await heading(page, 'Old');
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Move to the trash' }).click();
  await heading(page, 'Trash of Team');
  await page.locator(`[data-trashed="${pages.old}"]`).waitFor();
  holds('a page goes to the trash', (await api('GET', `/nodes/${pages.old}`)).trashed_at !== null);
  await page.getByRole('button', { name: 'Restore “Old”' }).click();
  await page.getByText('The trash is empty.').waitFor();
  await page.getByRole('treeitem', { name: 'Old' }).waitFor();
  holds('a page comes back from the trash', (await api('GET', `/nodes/${pages.old}`)).trashed_at === null);
  await page.goto(`${base}/w/p/${pages.old}`);
  await heading(page, 'Old');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('Move to the trash');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Delete permanently: “Old”' }).click();
  await page.locator('dialog [data-yes]').click();
  await page.getByText('The trash is empty.').waitFor();
  const gone = await api('GET', `/nodes/${pages.old}`).then(() => '', String);
  holds('a page is deleted permanently', gone.includes(' 404 '));
  await context.close();
}

async function looks() {
  const made = await api('POST', `/nodes/${pages.notes}/shares`, { password: 'open sesame' });
  await fetch(base + new URL(made.url).pathname);
  await api('PUT', `/nodes/${pages.notes}`, { base_version: 1, markdown: `${'A line.\n\n'.repeat(20)}The end.\n` });
  const screens = { share: `p/${pages.notes}/share`, history: `p/${pages.notes}/history`,
    version: `p/${pages.notes}/history?version=1`, difference: `p/${pages.notes}/history?version=2&old=1`,
    trash: `s/${pages.space}/trash` };
  const kinds = { light: {}, dark: { colorScheme: 'dark' }, forced: { forcedColors: 'active' }, phone: PHONE, qps: {}, de: {} };
  for (const [kind, more] of Object.entries(kinds)) {
    const { context, page } = await person(ada, more);
    if (kind === 'qps' || kind === 'de') await context.addInitScript((language) => localStorage.setItem('notes-preferences', JSON.stringify({ language })), kind);
    for (const [name, path] of Object.entries(screens)) {
      await page.goto(`${base}/w/${path}`);
      await page.locator('.around').waitFor();
      await page.waitForTimeout(400);
      await accessible(page, `${kind}, ${name}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) wrong.push(`${kind}, ${name}: ${wide} pixels too wide`);
    }
    if (kind === 'de') holds('the screens are German', await page.getByRole('heading', { name: 'Papierkorb von Team' }).count() === 1);
    await context.close();
  }
}

async function others() {
  const { context, page } = await person(bob);
  await page.goto(`${base}/w/p/${pages.notes}/share`);
  await heading(page, 'You may not see this');
  holds('the screen says so to those who may only read', true);
  await page.goto(`${base}/w/p/${pages.notes}/history?version=1`);
  await page.locator('.old-text').waitFor();
  holds('who may only read restores nothing', await page.getByRole('button', { name: 'Restore this version' }).count() === 0);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForTimeout(2500);
  await context.setOffline(true);
  await page.goto(`${base}/w/p/${pages.notes}/history`);
  await heading(page, 'This is not stored on this device');
  await accessible(page, 'history, offline');
  await context.setOffline(false);
  await page.locator('[data-version="1"]').waitFor();
  holds('the history appears when the network is back', true);
  await context.close();
}

await judge(share, history, trash, looks, others);
