// Finds pages in one space, and people, in Chromium, and prints a line for each scenario that holds.
// Arguments: two addresses (the same), and the people, a token and ids as JSON. Ada is an administrator; Bob shares a
// space with Carol, and does not know Eve.
import {
  accessible, ada, bob, first as base, heading, holds, isFocused, judge, LOOKS, pages, person, until,
} from './workspace_tools.mjs';

const isWide = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

/** Opens the palette and types; returns its options. */
async function typed(page, text) {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill(text);
  return page.getByRole('option');
}

async function inOneSpace() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/s/${pages.team}`);
  await heading(page, 'Team');
  const options = await typed(page, 'harvest');
  await options.filter({ hasText: 'Fields' }).waitFor();
  await options.filter({ hasText: 'Greenhouse' }).waitFor();
  const only = page.getByRole('checkbox', { name: 'Only in Team' });
  await page.keyboard.press('Tab');
  holds('the filter comes after the field', await isFocused(only));
  await page.keyboard.press('Space');
  await options.filter({ hasText: 'Greenhouse' }).waitFor({ state: 'detached' });
  await options.filter({ hasText: 'Fields' }).waitFor();
  holds('the palette finds pages of one space alone', true);
  await page.getByRole('combobox').fill('Green');
  await page.getByText('Nothing matches “Green”.').waitFor();
  holds('titles of another space are left out, too', await options.count() === 0);
  await accessible(page, 'the palette with its filter');
  await page.getByRole('combobox').fill('harvest');
  await page.getByRole('link', { name: 'All results on a page' }).press('Enter');
  await heading(page, 'Search');
  holds('the palette leads to the search of that space', page.url() === `${base}/w/search?q=harvest&space=${pages.team}`);
  const hits = page.locator('.hits > li');
  await page.getByText('1 result', { exact: true }).waitFor();
  holds('the search has that space chosen', await page.getByLabel('Search in').inputValue() === pages.team);
  await page.getByLabel('Search in').selectOption({ label: 'All spaces' });
  await page.getByText('2 results', { exact: true }).waitFor();
  holds('all spaces are searched', page.url() === `${base}/w/search?q=harvest` && await hits.count() === 2);
  await page.getByLabel('Search in').selectOption({ label: 'Lab' });
  await page.reload();
  await page.getByText('1 result', { exact: true }).waitFor();
  holds('a reload keeps the space', await hits.filter({ hasText: 'Greenhouse' }).count() === 1);
  await page.goto(`${base}/w/search?q=harvest&space=${pages.page}`);
  await page.getByText('2 results', { exact: true }).waitFor();
  holds('a space that is none limits nothing', true);
  await page.goto(`${base}/w/s/${pages.lab}`);
  await page.getByRole('link', { name: 'Search this space' }).click();
  await heading(page, 'Search');
  holds('the screen of a space leads to its search', await page.getByLabel('Search in').inputValue() === pages.lab);
  await context.close();
}

async function offline() {
  const { context, page } = await person(ada);
  for (const id of [pages.page, pages.other]) {
    await page.goto(`${base}/w/p/${id}`);
    await page.locator('.prose').waitFor();
  }
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForTimeout(2500);
  await context.setOffline(true);
  await page.goto(`${base}/w/search?q=harvest&space=${pages.lab}`);
  await page.getByText('1 result', { exact: true }).waitFor();
  holds('offline, the stored pages of one space are searched', await page.locator('.hits', { hasText: 'Greenhouse' }).count() === 1);
  await context.close();
}

async function refused() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/search`);
  await heading(page, 'Search');
  await page.route('**/api/v1/search?**', (route) => route.fulfill({ status: 429, json: { detail: 'Too many requests.' } }));
  await page.getByRole('searchbox').fill('harvest');
  await page.getByRole('status').filter({ hasText: 'The search did not work: Too many requests.' }).waitFor();
  holds('a search that is refused says so, not that nothing is there', await page.getByText('Nothing matches').count() === 0);
  await typed(page, 'harvest');
  await page.getByRole('dialog').locator('p.nothing', { hasText: 'Too many requests.' }).waitFor();
  holds('the palette says so, too', true);
  await context.close();
}

async function between() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/search?q=harvest`);
  const field = page.getByRole('searchbox');
  const shows = async (text, count) => {
    await page.locator('.search').getByText(count, { exact: true }).waitFor();
    return await field.inputValue() === text;
  };
  await shows('harvest', '2 results');
  await typed(page, 'glass');
  await page.getByRole('link', { name: 'All results on a page' }).press('Enter');
  holds('on the search screen, the palette leads to another search', await shows('glass', '1 result'));
  await page.goBack();
  holds('back leads to the search before', await shows('harvest', '2 results'));
  await page.goForward();
  holds('forward leads to the search after it', await shows('glass', '1 result'));
  await field.fill('harvest');
  await shows('harvest', '2 results');
  holds('what one types goes on in the same field', await isFocused(field) && page.url() === `${base}/w/search?q=harvest`);
  await context.close();
}

async function people() {
  const { context, page } = await person(bob);
  await page.goto(`${base}/w`);
  await page.getByRole('treeitem').first().waitFor();
  const options = await typed(page, 'car');
  const carol = page.getByRole('group', { name: 'People' }).getByRole('option', { name: 'Carol' });
  await carol.waitFor();
  holds('the palette finds a person of the same space, without their address', !(await carol.innerText()).includes('@'));
  await accessible(page, 'the palette with a person');
  await until(async () => {
    if (await carol.getAttribute('aria-selected') === 'true') return true;
    await page.keyboard.press('ArrowDown');
    return false;
  });
  await page.keyboard.press('Enter');
  await heading(page, 'Carol');
  holds('the person has an address', page.url() === `${base}/w/people/${pages.carol}`);
  holds('the focus is on the name', await isFocused(page.locator('#title')));
  const main = page.locator('#main');
  await main.getByRole('link', { name: 'Of Carol' }).waitFor();
  holds('it shows the spaces and pages that both see', await main.getByRole('link', { name: 'Team' }).count() === 1
    && await main.getByRole('link', { name: 'Secret of Carol' }).count() === 0);
  holds('it has no e-mail address for others', !(await main.innerText()).includes('@'));
  await main.getByRole('link', { name: 'Of Carol' }).click();
  await heading(page, 'Of Carol');
  holds('a page of the list opens', true);
  await typed(page, 'eve');
  await page.waitForResponse(/\/people\?q=eve/);
  await page.waitForTimeout(300);
  holds('it finds no stranger', await options.filter({ hasText: 'Eve' }).count() === 0);
  await page.goto(`${base}/w/people/${pages.eve}`);
  await heading(page, 'This page does not exist');
  holds('a stranger has no screen', true);
  await context.close();
}

async function administrator() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w`);
  await page.getByRole('treeitem').first().waitFor();
  const options = await typed(page, 'eve');
  await options.filter({ hasText: 'eve@example.org' }).click();
  await heading(page, 'Eve');
  await page.getByRole('link', { name: 'Account in the administration' }).click();
  await page.getByText('1 person', { exact: true }).waitFor();
  holds('an administrator comes to the account', await page.locator('[data-user]', { hasText: 'eve@example.org' }).count() === 1);
  await context.close();
}

async function looks() {
  for (const [look, more] of Object.entries(LOOKS)) {
    const { context, page } = await person(ada, more);
    await page.goto(`${base}/w/people/${pages.carol}`);
    await heading(page, 'Carol');
    await accessible(page, `a person, ${look}`);
    const isPersonWide = await isWide(page);
    await page.goto(`${base}/w/search?q=harvest&space=${pages.team}`);
    await page.getByText('1 result', { exact: true }).waitFor();
    await accessible(page, `the search of a space, ${look}`);
    if (look === 'phone') {
      const isSearchWide = await isWide(page);
      await typed(page, 'carol');
      await page.getByRole('option', { name: 'carol@example.org' }).waitFor();
      holds('320 pixels are wide enough', !isPersonWide && !isSearchWide && !await isWide(page));
    }
    await context.close();
  }
  const { context, page } = await person(ada, { locale: 'de-DE' });
  await page.goto(`${base}/w/people/${pages.carol}`);
  await page.getByRole('heading', { name: 'Seiten, die diese Person zuletzt geändert hat' }).waitFor();
  holds('the screen is German', await page.getByRole('link', { name: 'Konto in der Verwaltung' }).count() === 1);
  await context.close();
}

await judge(inOneSpace, offline, refused, between, people, administrator, looks);
