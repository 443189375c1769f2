// Sets a new installation up in Chromium, two people at once, and prints a line for each scenario that holds.
// Arguments: two addresses (the same), and an administrator as JSON.
import { ada, accessible, first as base, holds, judge, newPage } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, 'forced colours': { forcedColors: 'active' }, 'a phone': PHONE };

async function visitor(more = {}) {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 30_000);
  await page.goto(base);
  await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor();
  return { context, page };
}

const next = (page) => page.getByRole('button', { name: /^(Next|Set up|Weiter|Einrichten)$/ }).press('Enter');
const named = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();

async function filled(page, email) {
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Your e-mail address').fill(email);
  await page.getByLabel('Password').fill(ada.password);
}

async function setup() {
  const one = await visitor();
  holds('a first visit leads to the setup', one.page.url() === `${base}/w/setup`);
  const other = await visitor();
  for (const [look, more] of Object.entries(LOOKS)) {
    const { context, page } = await visitor(more);
    await accessible(page, `the site, ${look}`);
    await next(page);
    await named(page, 'Your account');
    await accessible(page, `the account, ${look}`);
    await filled(page, ada.email);
    await next(page);
    await named(page, 'A short tour');
    await accessible(page, `the tour, ${look}`);
    if (more === PHONE) holds('nothing scrolls sideways at 320 px', await page.evaluate(() => document.documentElement.scrollWidth) <= 320);
    await context.close();
  }
  await one.page.getByLabel('Name of the site').fill('Our notes');
  await next(one.page);
  await named(one.page, 'Your account');
  holds('the focus goes with the step', await one.page.evaluate(() => document.activeElement?.id) === 'title');
  await filled(one.page, ada.email);
  await one.page.getByLabel('Password').fill('short');
  await next(one.page);
  holds('a short password goes no further', await one.page.getByText('Step 2 of 3').count() === 1);
  await one.page.getByLabel('Password').fill(ada.password);
  await next(one.page);
  await one.page.getByRole('button', { name: 'Back' }).click();
  holds('a step back keeps what was filled in', await one.page.getByLabel('Your e-mail address').inputValue() === ada.email);
  await next(one.page);
  await named(one.page, 'A short tour');
  await next(other.page);
  await filled(other.page, 'mallory@example.org');
  await next(other.page);
  await named(other.page, 'A short tour');
  await next(one.page);
  await named(one.page, 'A short tour');
  await one.page.waitForURL(`${base}/w/p/*`);
  await one.page.getByRole('heading', { name: 'When you have seen it' }).waitFor();
  await one.page.getByRole('treeitem').first().waitFor();
  holds('the setup leads straight to the tour in the workspace', await one.page.getByRole('treeitem').count() > 0);
  await next(other.page);
  await named(other.page, 'The setup is done');
  holds('the second of two reads that it is done', await other.page.getByRole('link', { name: 'Sign in' }).count() === 1);
  await accessible(other.page, 'the setup that is done');
  await one.page.goto(`${base}/w/setup`);
  await one.page.getByRole('treeitem').first().waitFor();
  await named(one.page, 'This page does not exist');
  holds('once done, the address is nothing', await one.page.getByLabel('Name of the site').count() === 0);
  await one.context.close();
  await other.context.close();
}

async function german() {
  const { context, page } = await visitor();
  await page.getByLabel('Language').selectOption('de');
  await named(page, 'Willkommen');
  holds('the chosen language is used at once', await page.evaluate(() => document.documentElement.lang) === 'de');
  await context.close();
}

await judge(german, setup);
