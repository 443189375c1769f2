// Uses the workspace in Chromium as a person would, and prints a line for each scenario that holds.
// Arguments: address, a person's sign-in, and a JSON object with the screens and the ids of the pages and the space.
import { accessible, holds, judge, newPage } from './chromium.mjs';
import { show, signIn } from './screen_acts.mjs';

const [base, person, given] = process.argv.slice(2);
const ids = JSON.parse(given);

async function opened(more = {}) {
  const { context, page } = await newPage(more, 40_000);
  await signIn(context, base, person);
  return { context, page };
}

/** The rules of axe hold once the screen has stopped moving. */
async function accessibleAtRest(page, name) {
  await page.waitForTimeout(300);
  await accessible(page, name);
}

async function reading() {
  const { context, page } = await opened();
  await page.goto(`${base}/w/s/${ids.space}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const tree = page.getByRole('tree');
  await tree.getByRole('treeitem').first().waitFor();
  await tree.getByRole('treeitem', { name: 'Page', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  holds('a click in the tree shows the page', page.url() === `${base}/w/p/${ids.page}`);
  holds('the document is rendered', await page.locator('.prose strong').count() > 0);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('belo');
  await page.getByRole('option', { name: 'Below' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Below' }).waitFor();
  holds('the palette opens a page by its title', page.url().endsWith(ids.below));
  await page.locator('.prose a', { hasText: 'up' }).click();
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  holds('a link to a page stays in the workspace', page.url() === `${base}/w/p/${ids.page}`);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Below' }).waitFor();
  holds('back shows the page before', true);
  const row = tree.getByRole('treeitem', { name: 'Page', exact: true });
  await row.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/w/p/${ids.below}`);
  holds('arrow keys and Enter work in the tree', true);
  await page.goto(`${base}/w/p/${ids.page}`);
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  await page.waitForTimeout(1500);
  await page.evaluate(async ([id]) => {
    const node = await (await fetch(`/api/v1/nodes/${id}`)).json();
    const body = JSON.stringify({ base_version: node.version, markdown: 'written elsewhere\n' });
    await fetch(`/api/v1/nodes/${id}`, { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
  }, [ids.page]);
  await page.locator('.prose', { hasText: 'written elsewhere' }).waitFor();
  holds('a change appears without a reload', true);
  await context.close();
}

async function offline() {
  const { context, page } = await opened();
  await page.goto(`${base}/w/p/${ids.page}`);
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForTimeout(3500);
  await context.setOffline(true);
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  holds('a page that was read is shown offline after a reload', true);
  holds('the workspace says that it is offline', await page.getByText('Offline', { exact: true }).count() > 0);
  await page.goto(`${base}/w/p/${ids.unread}`);
  await page.getByRole('heading', { name: 'This page is not stored on this device' }).waitFor();
  holds('a page that was not read is explained', true);
  await page.goto(`${base}/w/search?q=written`);
  await page.locator('.hits li').first().waitFor();
  holds('stored pages can be searched offline', true);
  await context.setOffline(false);
  await page.goto(`${base}/w/p/${ids.page}`);
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  await page.getByRole('button', { name: /Account and settings/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.locator('dialog .primary').click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  const kept = await page.evaluate(() => new Promise((done) => {
    const opening = indexedDB.open('notes');
    opening.onsuccess = () => {
      const asked = opening.result.transaction('pages').objectStore('pages').count();
      asked.onsuccess = () => { opening.result.close(); done(asked.result); };
    };
  }));
  holds('a sign-out keeps what is stored', kept > 0);
  await context.setOffline(true);
  await page.goto(`${base}/w/p/${ids.page}`);
  await page.getByRole('heading', { name: 'You are offline' }).waitFor();
  holds('a sign-out hides what is stored', !(await page.content()).includes('written elsewhere'));
  await context.close();
}

async function screens() {
  const looks = [{ colorScheme: 'light' }, { colorScheme: 'dark', language: 'qps' }];
  for (const { colorScheme, language } of looks) {
    const { context, page } = await opened({ colorScheme, bypassCSP: true });
    if (language) await context.addInitScript((tag) => localStorage.setItem('notes-preferences', JSON.stringify({ language: tag })), language);
    for (const screen of ids.screens.filter((one) => !one.isNarrow)) {
      await show(page, base, screen);
      await accessibleAtRest(page, `${colorScheme} ${language ?? ''} ${screen.name}`);
      await context.setOffline(false);
    }
    await context.close();
  }
  const { context, page } = await opened({ viewport: { width: 320, height: 640 }, bypassCSP: true, hasTouch: true, isMobile: true });
  await page.goto(`${base}/w/p/${ids.page}`);
  await page.getByRole('heading', { level: 1, name: 'Page' }).waitFor();
  await accessibleAtRest(page, 'phone, page');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  holds('320 pixels are wide enough', wide <= 0);
  await page.getByRole('button', { name: 'Show the sidebar' }).click();
  await page.getByRole('treeitem').first().waitFor();
  await accessibleAtRest(page, 'phone, drawer');
  await page.keyboard.press('Escape');
  holds('Escape closes the drawer', await page.getByRole('treeitem').count() === 0);
  await context.close();
}

await judge(screens, reading, offline);
