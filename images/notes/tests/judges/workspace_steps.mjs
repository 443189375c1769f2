// Uses the first steps after a setup in Chromium, and what an administrator sets: how long edits are kept, the name of a
// person, and the audit log of one page. Prints a line for each scenario that holds.
// Arguments: two addresses (the same), and the people, a token and ids as JSON. Bob is no administrator.
import {
  accessible, ada, api, bob, first as base, heading, holds, isFocused, judge, LOOKS, pages, person, until,
} from './workspace_tools.mjs';

const button = (page, name) => page.getByRole('button', { name, exact: true });
const isSaid = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
const step = (page, name, isDone) => page.locator(`[data-step=${name}][data-done=${isDone}]`);

async function looks() {
  const screens = { home: ['/w', '[data-step=tour]'], steps: ['/w/admin/first-steps', '[data-step=tour]'],
    limits: ['/w/admin/limits', '[data-edit-log] input'], audit: [`/w/p/${pages.page}/audit`, '.rows > li'] };
  for (const [look, more] of Object.entries(LOOKS)) {
    const { context, page } = await person(ada, more);
    let isWide = false;
    for (const [name, [path, there]] of Object.entries(screens)) {
      await page.goto(base + path);
      await page.locator(there).first().waitFor();
      await accessible(page, `${name}, ${look}`);
      isWide ||= await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    }
    if (look === 'phone') holds('320 pixels are wide enough', !isWide);
    await context.close();
  }
  const { context, page } = await person(ada, { locale: 'de-DE' });
  await page.goto(`${base}/w`);
  await page.getByRole('heading', { name: 'Erste Schritte' }).waitFor();
  holds('the steps are German', await button(page, 'Rundgang anlegen').count() === 1);
  await context.close();
}

async function steps() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w`);
  await step(page, 'tour', false).waitFor();
  holds('the home screen of an administrator has the steps', await page.locator('[data-step]').count() === 5);
  holds('what is there is done, what is not is open', await step(page, 'people', true).count() === 1
    && await step(page, 'space', true).count() === 1 && await step(page, 'sign-on', false).count() === 1
    && await step(page, 'backup', false).count() === 1);
  await page.locator('[data-step=people] a').press('Enter');
  await button(page, 'Invite').waitFor();
  holds('a step leads to its place', page.url() === `${base}/w/admin/people`);
  await page.goBack();
  await page.locator('[data-step=space] button').press('Enter');
  await page.locator('dialog input[name=name]').waitFor();
  holds('a space is made from its step', true);
  await page.keyboard.press('Escape');
  await button(page, 'Make the tour').press('Enter');
  await step(page, 'tour', true).waitFor();
  const open = page.getByRole('link', { name: 'Open the tour' });
  holds('the tour is made, and the focus is on its link', await until(() => isFocused(open)));
  await open.press('Enter');
  await heading(page, 'Tour');
  await page.locator('.cards a').first().waitFor();
  holds('the tour has its pages', await page.getByRole('treeitem').count() > 0);
  await page.goto(`${base}/w`);
  await button(page, 'Hide these steps here').press('Enter');
  await page.locator('[data-step]').first().waitFor({ state: 'detached' });
  holds('the steps are hidden, and the focus is on the heading', await isFocused(page.locator('#title')));
  await page.reload();
  await page.locator('#home-spaces').waitFor();
  await page.waitForTimeout(1000);
  holds('they stay hidden', await page.locator('[data-step]').count() === 0);
  await page.goto(`${base}/w/admin/people`);
  await page.getByRole('link', { name: 'First steps' }).click();
  await step(page, 'tour', true).waitFor();
  holds('the administration has them nevertheless', page.url() === `${base}/w/admin/first-steps`);
  await context.close();
}

async function editLog() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/admin/limits`);
  const days = page.locator('[data-edit-log] input');
  await days.waitFor();
  holds('edits are kept for 30 days at first', await days.inputValue() === '30');
  await days.fill('10');
  await days.press('Enter');
  await page.locator('.ask', { hasText: 'for 10 days only' }).waitFor();
  await accessible(page, 'the question before edits are deleted');
  await page.keyboard.press('Escape');
  await page.locator('.ask').waitFor({ state: 'detached' });
  holds('fewer days are asked first; Escape changes nothing', (await api('GET', '/edit-log')).days === 30 && await isFocused(days));
  await days.press('Enter');
  await button(page, 'Delete the older ones').press('Enter');
  await isSaid(page, 'Edits are kept for 10 days.');
  holds('then edits are kept for fewer days', (await api('GET', '/edit-log')).days === 10);
  await days.fill('365');
  await days.press('Enter');
  await isSaid(page, 'Edits are kept for 365 days.');
  holds('more days are set at once', (await api('GET', '/edit-log')).days === 365);
  await days.fill('0');
  await days.press('Enter');
  await page.waitForTimeout(300);
  holds('no days are not accepted', (await api('GET', '/edit-log')).days === 365);
  await context.close();
}

async function rename() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/admin/people?find=bob`);
  await button(page, 'Actions for Bob').press('Enter');
  await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
  const field = page.getByLabel('New name of Bob');
  holds('the name to change is in the field', await field.inputValue() === 'Bob');
  await field.fill('Robert');
  await field.press('Enter');
  await isSaid(page, 'Bob is changed.');
  await page.locator('[data-user]', { hasText: 'Robert' }).waitFor();
  holds('a person is renamed', (await api('GET', '/users')).some((one) => one.name === 'Robert'));
  await context.close();
}

async function audit() {
  const { context, page } = await person(ada);
  await page.goto(`${base}/w/p/${pages.page}`);
  await heading(page, 'Plan');
  await button(page, 'More actions').click();
  await page.getByRole('menuitem', { name: 'Audit log of the page' }).press('Enter');
  await heading(page, 'Audit log of “Plan”');
  await page.getByText('2 entries shown').waitFor();
  const rows = await page.locator('.rows > li').allInnerTexts();
  holds('it has the entries of the page alone', rows.length === 2 && rows[0].includes('saved a page') && rows[1].includes('made a page'));
  await page.getByRole('link', { name: 'Back to the page' }).press('Enter');
  await heading(page, 'Plan');
  await context.close();
  const other = await person(bob);
  await other.page.goto(`${base}/w/p/${pages.page}`);
  await heading(other.page, 'Plan');
  await button(other.page, 'More actions').click();
  holds('the menu has it for administrators alone', await other.page.getByRole('menuitem', { name: 'Audit log' }).count() === 0
    && await other.page.getByRole('menuitem', { name: 'Files of the page' }).count() === 1);
  await other.page.goto(`${base}/w/p/${pages.page}/audit`);
  await heading(other.page, 'This page does not exist');
  await other.page.goto(`${base}/w`);
  await other.page.locator('#home-spaces').waitFor();
  await other.page.waitForTimeout(1000);
  holds('others have no steps on their home screen', await other.page.locator('[data-step]').count() === 0);
  await other.context.close();
}

await judge(looks, steps, editLog, rename, audit);
