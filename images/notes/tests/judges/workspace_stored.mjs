// Begins to edit pages without a network that the browser has stored, while others change, delete or keep them. Prints a
// line for each scenario that holds. Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { list, read, said, save, startEdit, storedOf, text, write } from './stored_tools.mjs';
import { accessible, ada, api, bob, docOf, first, holds, judge, newPage, pages, second, signIn, token, until } from './workspace_tools.mjs';

const times = (whole, part) => whole.split(part).length - 1;

async function begun() {
  const { context, page } = await newPage();
  await signIn(page, second, bob);
  await read(page, second, pages.plain);
  await context.setOffline(true);
  await write(page, ' written offline');
  holds('a stored page is edited without a network, after a reload', (await text(page).innerText()).includes('last written offline'));
  await page.waitForTimeout(600);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await startEdit(page);
  await text(page).waitFor();
  holds('and is there after another one', (await text(page).innerText()).includes('last written offline'));
  await save(pages.plain, 'first from elsewhere\n\nmiddle\n\nlast\n');
  await context.setOffline(false);
  const both = async () => { const now = await said(pages.plain); return now.includes('first from elsewhere') && now.includes('last written offline'); };
  holds('the text comes to what somebody else has saved meanwhile', await until(both, () => said(pages.plain)));
  await page.locator('[data-saving=saved]').waitFor();
  await page.waitForTimeout(1500);
  const now = await said(pages.plain);
  holds('each once', times(now, 'from elsewhere') === 1 && times(now, 'written offline') === 1 && now === 'first from elsewhere|middle|last written offline');
  holds('and the browser shows both', await until(async () => (await text(page).innerText()).includes('first from elsewhere')));
  await context.close();
}

/** A page with an edit log, whose saved document is not that of the log: it ends with an empty paragraph. */
async function ragged() {
  const { context, page } = await newPage();
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${pages.edited}`);
  await startEdit(page);
  await text(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' of an editor');
  await page.keyboard.press('Enter');
  await page.locator('[data-saving=saved]').waitFor();
  await until(async () => (await api('GET', `/nodes/${pages.edited}`)).version > 1);
  const other = await newPage();
  await signIn(other.page, second, bob);
  await read(other.page, second, pages.edited);
  const kept = await storedOf(other.page, pages.edited);
  holds('a page whose saved text is not exactly the written one is stored with that', kept.node.edit === null && kept.base.seq > 0
    && kept.base.doc.content.length > kept.node.doc.content.length);
  await page.keyboard.type('of this moment');
  await page.locator('[data-saving=saved]').waitFor();
  const third = await newPage();
  await signIn(third.page, second, bob);
  await read(third.page, second, pages.edited);
  const newest = await storedOf(third.page, pages.edited);
  await third.context.setOffline(true);
  await third.page.reload();
  await third.page.locator('.prose', { hasText: 'of this moment' }).waitFor({ timeout: 5000 }).catch(() => undefined);
  holds('it is read offline with what no version has yet', !JSON.stringify(newest.node.doc).includes('of this moment')
    && (await third.page.locator('.prose').innerText()).includes('of this moment'));
  await third.context.close();
  for (let n = 0; n < 'of this moment'.length; n += 1) await page.keyboard.press('Backspace');
  await page.locator('[data-saving=saved]').waitFor();
  await other.context.setOffline(true);
  await write(other.page, 'in the empty line');
  await text(page).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('at the start ');
  await page.locator('[data-saving=saved]').waitFor();
  await other.context.setOffline(false);
  const wanted = 'at the start first|last of an editor|in the empty line';
  holds('what two people write at it is there once', await until(async () => await said(pages.edited) === wanted, () => said(pages.edited)));
  // In the tab that has written there itself, at once.
  await page.getByRole('button', { name: 'Done' }).click();
  await page.waitForTimeout(300);
  await context.setOffline(true);
  await write(page, ' and more');
  holds('who has written a moment ago goes on from there', (await text(page).innerText()).includes('at the start first'));
  await context.setOffline(false);
  holds('and it is sent once', await until(async () => times(await said(pages.edited), ' and more') === 1
    && times(await said(pages.edited), 'at the start') === 1, () => said(pages.edited)));
  await context.close();
  await other.context.close();
}

async function deleted() {
  const { context, page } = await newPage();
  await signIn(page, second, bob);
  await read(page, second, pages.gone);
  await context.setOffline(true);
  await write(page, ' kept words');
  const done = await fetch(`${first}/api/v1/nodes/${pages.gone}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  if (!done.ok) throw new Error(`not deleted: ${done.status}`);
  await context.setOffline(false);
  await list(page).first().waitFor();
  holds('the text of a page that is deleted meanwhile is in the list', await until(async () => (await page.locator('.lost').innerText()).includes('kept words'),
    () => page.locator('.lost').innerText()));
  await context.close();
}

async function refused() {
  const { context, page } = await newPage();
  await signIn(page, first, ada);
  await read(page, first, pages.other);
  await context.setOffline(true);
  await write(page, ' of the first tab');
  await page.waitForTimeout(600);
  const tab = await context.newPage();
  await tab.goto(`${first}/w/p/${pages.other}`);
  await startEdit(tab);
  await tab.getByText('another tab has text of it').waitFor();
  holds('a second tab does not begin beside unsent text of another', await text(tab).count() === 0);
  await tab.close();
  await context.setOffline(false);
  await until(async () => (await said(pages.other)).includes('of the first tab'));
  await page.getByRole('button', { name: 'Done' }).click();
  await read(page, first, pages.old);
  await storedOf(page, pages.old, true);
  await context.setOffline(true);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await startEdit(page);
  await page.getByText('no copy of it to begin from').waitFor();
  holds('a page that an earlier version has stored is read, and not edited', await page.locator('.prose', { hasText: 'words' }).count() === 1
    && await text(page).count() === 0);
  await context.setOffline(false);
  await page.goto('about:blank');
  await context.clearCookies();
  await signIn(page, first, bob);
  await page.goto(`${first}/w`);
  await page.locator('#sidebar').waitFor();
  await page.waitForTimeout(1500);
  holds('another user\'s sign-in deletes it', await storedOf(page, pages.other) === undefined);
  await context.setOffline(true);
  await page.goto(`${first}/w/p/${pages.other}`);
  await page.getByRole('heading', { name: 'This page is not stored on this device' }).waitFor();
  holds('and the page does not open', await page.getByRole('button', { name: 'Edit', exact: true }).count() === 0);
  await context.close();
}

/** Edits of two pages wait: each other screen says so, until they are sent. */
async function elsewhere() {
  const { context, page } = await newPage({ bypassCSP: true });
  await signIn(page, first, ada);
  await read(page, first, pages.plain);
  await read(page, first, pages.edited);
  await page.goto(`${first}/w`);
  await context.setOffline(true);
  for (const id of [pages.plain, pages.edited]) {
    await page.goto(`${first}/w/p/${id}`);
    await write(page, ' of a train');
  }
  const told = (n) => page.locator(`[data-unsent="${n}"]`).getByRole('button');
  await told(1).waitFor();
  holds('beside the page that is written the bar tells of the other one', (await told(1).innerText()) === '1 page not sent yet');
  await page.goto(`${first}/w`);
  await told(2).waitFor();
  holds('on another screen it tells of both, also after a reload and without a network', (await told(2).innerText()) === '2 pages not sent yet');
  await accessible(page, 'pages that are not sent');
  await page.setViewportSize({ width: 320, height: 640 });
  await told(2).waitFor();
  holds('on a phone, too, and it fits', await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await told(2).click();
  await accessible(page, 'the list of pages that are not sent');
  holds('the list is in the window', await page.locator('.unsent .menu-list').evaluate((one) => {
    const { left, right } = one.getBoundingClientRect();
    return left >= 0 && right <= innerWidth;
  }));
  await page.getByRole('menuitem', { name: 'Plain' }).click();
  await page.getByRole('heading', { level: 1, name: 'Plain' }).waitFor();
  holds('its list leads to each', page.url().endsWith(pages.plain));
  await page.goto(`${first}/w`);
  await told(2).waitFor();
  await context.setOffline(false);
  holds('it ends when all is sent', await until(async () => await page.locator('[data-unsent="0"]').count() === 1)
    && (await said(pages.plain)).includes('of a train') && (await said(pages.edited)).includes('of a train'));
  await context.close();
}

await judge(begun, ragged, deleted, refused, elsewhere);
