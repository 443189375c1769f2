// Uses the moments of a page in Chromium, and prints a line for each scenario that holds.
// Arguments: two addresses (the same), and the people, a token and the ids of pages as JSON.
import { ada, accessible, api, bob, first as base, holds, judge, newPage, pages, signIn, until, wrong } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const ALL = 'late blue green red words';

async function person(who, more = {}) {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 30_000);
  await signIn(page, base, who);
  return { context, page };
}

const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const shows = (page, text) => page.locator('.old-text:not([aria-busy=true]) .prose').getByText(text, { exact: true }).waitFor();
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute('type') ?? document.activeElement?.id);
const added = (page) => page.locator('.difference ins').allTextContents();

async function list() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.plan}/history`);
  await heading(page, 'History of “Plan”');
  await page.getByRole('link', { name: 'Moments' }).focus();
  await page.keyboard.press('Enter');
  await heading(page, 'Moments of “Plan”');
  const bursts = page.locator('[data-moment]');
  holds('the moments are listed by who wrote and when', await bursts.count() === 2
    && /by (\w+ ?)+ and Cleo · 3 edits/.test(await bursts.nth(1).textContent())
    && /by Cleo · 1 edit$/.test((await bursts.nth(0).locator('small').textContent()).trim()));
  holds('each has its time', (await bursts.nth(1).locator('time').getAttribute('datetime')).startsWith('20'));
  holds('the heading has the focus', await focused(page) === 'title');
  holds('the way that is shown is marked', await page.locator('.ways [aria-current=page]').textContent() === 'Moments');
  await page.locator('[data-moment="3"]').getByRole('link', { name: 'Changes' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.difference ins').first().waitFor();
  holds('what was changed then is marked', (await added(page)).join('').includes('blue green red')
    && !(await added(page)).join('').includes('late'));
  await context.close();
}

async function slider() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.plan}/history?moment=4`);
  await heading(page, '“Plan” at a moment');
  await shows(page, ALL);
  const range = page.getByRole('slider', { name: 'Moment' });
  holds('the moment as it is now is not restored', await page.getByRole('button', { name: 'Restore this moment' }).count() === 0);
  await range.focus();
  await page.keyboard.press('ArrowLeft');
  await shows(page, 'blue green red words');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await shows(page, 'red words');
  holds('arrow keys go to any edit, and the focus stays', await focused(page) === 'range');
  await page.locator('[data-at="1"]').waitFor();
  holds('the slider says when and which', /\d.*, edit 1 of 4$/.test(await range.getAttribute('aria-valuetext')));
  await page.keyboard.press('Home');
  await shows(page, 'words');
  holds('the first moment is the page before the first edit', page.url().endsWith('moment=0'));
  await page.getByRole('button', { name: 'One edit later' }).click();
  await shows(page, 'red words');
  holds('a button goes one edit further', page.url().endsWith('moment=1'));
  await page.getByLabel('Shown').selectOption('now');
  await page.locator('.difference ins').first().waitFor();
  holds('what has changed since then is marked', (await added(page)).join('').includes('late blue green'));
  await page.reload();
  await page.locator('.difference ins').first().waitFor();
  holds('a moment has an address', await page.getByLabel('Shown').inputValue() === 'now');
  await page.goBack();
  await context.close();
}

async function restore() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.plan}/history?moment=2`);
  await shows(page, 'green red words');
  // Somebody saves meanwhile.
  const { version } = await api('GET', `/nodes/${pages.plan}`);
  await api('PUT', `/nodes/${pages.plan}`, { base_version: version, markdown: 'Meanwhile.\n' });
  await page.getByRole('button', { name: 'Restore this moment' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog [data-yes]').waitFor();
  await page.keyboard.press('Escape');
  holds('Escape restores nothing', (await api('GET', `/nodes/${pages.plan}`)).version === version + 1);
  await page.keyboard.press('Enter');
  await page.locator('dialog [data-yes]').focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(`${base}/w/p/${pages.plan}`);
  await page.locator('.prose').getByText('green red words', { exact: true }).waitFor();
  holds('a restored moment is the page', true);
  const { bursts, last } = await api('GET', `/nodes/${pages.plan}/bursts`);
  holds('a restore loses no moment', last === 6 && bursts.at(-1).first === 1);
  await page.goto(`${base}/w/p/${pages.plan}/history?moment=all`);
  await page.locator('[data-moment="6"]').waitFor();
  await api('PUT', `/nodes/${pages.plan}`, { base_version: version + 2, markdown: 'Later.\n' });
  await page.locator('[data-moment="7"]').waitFor();
  holds('a new moment appears without a reload', true);
  await context.close();
}

async function kept() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.old}/history?moment=0`);
  await page.getByText('This moment is not kept any more: moments are kept for 30 days.').waitFor();
  holds('a moment that is not kept says so', await page.getByRole('button', { name: 'Restore this moment' }).count() === 0);
  await page.goto(`${base}/w/p/${pages.old}/history?moment=all`);
  await page.getByText('Nobody has written here in the last 30 days.').waitFor();
  await page.goto(`${base}/w/p/${pages.fresh}/history?moment=all`);
  await page.getByText('Nobody has written here in the editor yet.').waitFor();
  holds('a page without moments says why', true);
  // The answer has no body.
  await api('DELETE', `/nodes/${pages.fresh}`).catch(() => undefined);
  await page.reload();
  await heading(page, 'This page does not exist');
  holds('a deleted page shows none', true);
  await context.close();
}

async function looks() {
  const screens = { moments: 'all', moment: '2', changes: '4&since=0' };
  const kinds = { light: {}, dark: { colorScheme: 'dark' }, forced: { forcedColors: 'active' }, phone: PHONE, qps: {}, de: {} };
  for (const [kind, more] of Object.entries(kinds)) {
    const { context, page } = await person(bob, more);
    if (kind === 'qps' || kind === 'de') await context.addInitScript((language) => localStorage.setItem('notes-preferences', JSON.stringify({ language })), kind);
    for (const [name, query] of Object.entries(screens)) {
      await page.goto(`${base}/w/p/${pages.notes}/history?moment=${query}`);
      await page.locator('.moments, .old-text .prose, .difference').first().waitFor();
      await page.waitForTimeout(300);
      await accessible(page, `${kind}, ${name}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) wrong.push(`${kind}, ${name}: ${wide} pixels too wide`);
      const small = await page.locator('.around :is(button, select, input, a.button)').evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.textContent));
      if (kind === 'phone' && small.length) wrong.push(`${name}: too small to touch: ${small}`);
      if (name === 'moment' && kind === 'light') {
        holds('who may only read restores nothing', await page.locator('.around .primary').count() === 0
          && await until(() => page.locator('.old-text').count()));
      }
    }
    if (kind === 'de') holds('the screens are German', await page.getByLabel('Gezeigt').count() === 1);
    await context.close();
  }
}

await judge(list, slider, restore, kept, looks);
