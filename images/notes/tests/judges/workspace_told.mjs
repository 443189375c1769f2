// Mentions people and reads notifications in two Chromium browsers on two replicas, and prints a line for each scenario that holds.
// Arguments: the addresses of the replicas, and the people, a token and the ids of pages as JSON.
import { awaitsTheWorkspace } from './chromium.mjs';
import { ada, accessible, api, bob, browser, edit, first, holds, isSaved, pages, second, signIn, until, wrong } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, phone: PHONE };

async function person(base, who, path, more = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true, ...more });
  context.setDefaultTimeout(30_000);
  context.on('page', awaitsTheWorkspace);
  const page = await context.newPage();
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  await signIn(page, base, who);
  await page.goto(`${base}/w/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}
const bell = (page, count) => page.getByRole('link', { name: count ? `Notifications: ${count} unread` : 'Notifications', exact: true });
const option = (page, name) => page.getByRole('option', { name, exact: true });
const active = (page) => page.evaluate(() => document.getElementById(document.activeElement.getAttribute('aria-activedescendant') ?? '')?.textContent);

async function inText() {
  const one = await person(first, ada, `p/${pages.plan}`);
  const other = await person(second, bob, '');
  const [a, b] = [one.page, other.page];
  await bell(b, 1).waitFor();
  holds('who was given access to a space gets a notification', true);
  const text = await edit(a);
  await text.click();
  await a.keyboard.press('Control+End');
  await a.keyboard.type(' Ask @');
  await option(a, 'Bob').waitFor();
  holds('an @ offers the people who may read the page', await a.getByRole('listbox', { name: 'People and pages' }).count() === 1);
  holds('the text names the chosen one for screen readers', await active(a) === 'Bob');
  await a.keyboard.press('Escape');
  holds('Escape closes the list', await a.getByRole('listbox').count() === 0);
  await a.keyboard.press('Backspace');
  await a.keyboard.type('@bo');
  await option(a, 'Bob').waitFor();
  // The time begins when the server has the edit.
  const sent = a.waitForResponse((answer) => answer.url().endsWith('/edits') && answer.request().method() === 'POST'
    && answer.request().postData().includes('mention:') && answer.ok());
  await a.keyboard.press('Enter');
  await sent;
  const begun = Date.now();
  await bell(b, 2).waitFor();
  const took = Date.now() - begun;
  console.log(`the bell of the other replica counted ${took} ms after the server had the edit`);
  holds('the bell of a person on another replica counts a mention', true);
  await isSaved(a);
  const { doc } = await api('GET', `/nodes/${pages.plan}`);
  const mark = { type: 'link', attrs: { href: `mention:${(await userOf(b)).id}` } };
  holds('the mention is a link with the name', await until(async () => JSON.stringify((await api('GET', `/nodes/${pages.plan}`)).doc).includes(JSON.stringify(mark)), () => JSON.stringify(doc)));
  await a.keyboard.press('Control+z');
  await a.keyboard.press('Control+y');
  await a.keyboard.type('please.');
  await isSaved(a);
  await a.waitForTimeout(1500);
  holds('a mention that is undone and done again counts once', await bell(b, 2).count() === 1);
  await b.goto(`${second}/w/p/${pages.plan}`);
  await b.locator('.prose .mention', { hasText: '@Bob' }).waitFor();
  holds('a mention is drawn as a name', await b.locator('.prose .mention a').count() === 0);
  await one.context.close();
  return other;
}

const userOf = (page) => page.evaluate(async () => (await fetch('/api/v1/me')).json());

async function inComments({ context, page: b }) {
  const one = await person(first, ada, `p/${pages.notes}`);
  const a = one.page;
  await a.getByRole('button', { name: 'Comments', exact: true }).click();
  await a.getByRole('button', { name: 'New comment' }).click();
  const field = a.getByRole('textbox', { name: 'Your comment' });
  await field.pressSequentially('Look, @b');
  await option(a, 'Bob').waitFor();
  holds('an @ in a comment offers people', await active(a) === 'Bob');
  await a.keyboard.press('Enter');
  await a.keyboard.type('and read.');
  holds('a mention is written as a name', await field.inputValue() === 'Look, @Bob and read.');
  await a.keyboard.press('Control+Enter');
  await a.locator('#beside .body .mention', { hasText: '@Bob' }).waitFor();
  await bell(b, 3).waitFor();
  holds('the bell counts a mention in a comment', true);
  await bell(b, 3).click();
  await b.locator('[data-notification]').first().waitFor();
  const kinds = await b.locator('[data-notification]').evaluateAll((all) => all.map((one_) => one_.dataset.notification));
  holds('the list has the newest first', kinds.join() === 'mention,mention,access');
  await b.getByRole('link', { name: 'Notes', exact: true }).last().click();
  await b.locator('#beside .thread', { hasText: 'Look, @Bob and read.' }).waitFor();
  holds('a notification of a comment leads to it', true);
  await bell(b, 2).waitFor();
  await bell(b, 2).click();
  await b.getByRole('button', { name: 'Mark all as read' }).click();
  await bell(b, 0).waitFor();
  await b.locator('.told.is-new').first().waitFor({ state: 'detached' });
  holds('all are marked as read', true);
  await api('POST', `/nodes/${pages.notes}/comments`, { body: 'Once more.' });
  await b.getByRole('button', { name: 'More actions' }).count();
  await b.waitForTimeout(1000);
  holds('a comment on a page that one does not watch tells nothing', await bell(b, 0).count() === 1);
  await one.context.close();
  await context.close();
}

async function looks() {
  for (const [name, more] of Object.entries(LOOKS)) {
    const { context, page } = await person(second, bob, 'notifications', more);
    await page.locator('[data-notification]').first().waitFor();
    await accessible(page, `the notifications, ${name}`);
    await page.goto(`${second}/w/p/${pages.notes}`);
    await page.locator('.prose').waitFor();
    await page.keyboard.press('c');
    await page.getByRole('button', { name: 'New comment' }).click();
    await page.getByRole('textbox', { name: 'Your comment' }).pressSequentially('@');
    await option(page, 'Ada').waitFor();
    await accessible(page, `people for a comment, ${name}`);
    await page.getByRole('textbox', { name: 'Your comment' }).fill('');
    await page.keyboard.press('Escape');
    await page.goto(`${second}/w/p/${pages.plan}`);
    const text = await edit(page);
    await text.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' @');
    await option(page, 'Ada').waitFor();
    await accessible(page, `people for a text, ${name}`);
    await page.keyboard.press('Backspace');
    await isSaved(page);
    await context.close();
  }
}

/** All of a list that is longer than an answer of the server. */
async function longList() {
  const { context, page } = await person(first, ada, 'notifications');
  const rows = page.locator('[data-notification]');
  const more = page.getByRole('button', { name: 'Show more' });
  for (const count of [30, 130, 230]) {
    await until(async () => await rows.count() === count);
    await more.press('Enter');
  }
  await more.waitFor({ state: 'detached' });
  holds('the list goes on to its end', await until(async () => await rows.count() >= 250));
  holds('at its end the focus is on the heading', await page.evaluate(() => document.activeElement?.id) === 'title');
  await context.close();
}

try {
  await longList();
  await inComments(await inText());
  await looks();
} catch (error) {
  wrong.push(error.stack);
}
await browser.close();
for (const one of wrong) console.error(one);
process.exitCode = wrong.length ? 1 : 0;
