// Uses the account and the administration in Chromium, and prints a line for each scenario that holds.
// Arguments: address, and two people's e-mail addresses and passwords as JSON. The first is an administrator.
import { browser, holds, judge, newPage } from './chromium.mjs';
import { signIn } from './screen_acts.mjs';

const [base, given] = process.argv.slice(2);
const { ada, bob } = JSON.parse(given);
const NEW_PASSWORD = 'another password';

async function opened(who, path, more = {}) {
  const { context, page } = await newPage(more, 40_000);
  await signIn(context, base, who);
  page.logged = '';
  page.on('console', (message) => { page.logged += message.text(); });
  await page.goto(base + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const isSaid = (page, text) => page.getByText(text, { exact: true }).first().waitFor();
/** Waits until there is none of what is looked for. */
const isGone = (found) => found.first().waitFor({ state: 'detached' });

/** All that the browser keeps of this site, as text. */
const kept = (page) => page.evaluate(() => new Promise((done) => {
  const rest = JSON.stringify([localStorage, sessionStorage, history.state, location.href]);
  const opening = indexedDB.open('notes');
  opening.onsuccess = () => {
    const names = [...opening.result.objectStoreNames];
    const work = opening.result.transaction(names);
    const found = {};
    for (const name of names) {
      work.objectStore(name).getAll().onsuccess = (event) => { found[name] = event.target.result; };
    }
    work.oncomplete = () => { opening.result.close(); done(rest + JSON.stringify(found)); };
  };
}));

async function tokens() {
  const { context, page } = await opened(ada, '/w/account');
  // With the keyboard alone.
  await page.locator('.add > summary').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Name of the token').focus();
  await page.keyboard.type('Backup');
  await page.keyboard.press('Enter');
  const secret = await page.locator('.secret code').innerText();
  holds('a token is made with the keyboard, and shown', secret.startsWith('nt_'));
  holds('the focus goes to the secret', await page.locator('.secret').evaluate((one) => one === document.activeElement));
  const asked = (token) => fetch(`${base}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  holds('the token gives access', (await asked(secret)).status === 200);
  holds('the token is not stored in the browser', !(await kept(page)).includes(secret));
  holds('the token is not in the log', !page.logged.includes(secret));
  await button(page, 'Done').click();
  holds('a secret that was put away is not in the page', !(await page.content()).includes(secret));
  await page.reload();
  await button(page, 'End the token Backup').waitFor();
  holds('a secret is shown once', !(await page.content()).includes(secret));
  await button(page, 'End the token Backup').click();
  await page.keyboard.press('Escape');
  await isGone(page.getByRole('group', { name: /^End the token/ }));
  holds('Escape ends the question, and nothing else', (await asked(secret)).status === 200);
  await button(page, 'End the token Backup').click();
  await page.locator('.ask').getByRole('button', { name: 'End' }).click();
  await isSaid(page, 'The token Backup has ended.');
  holds('an ended token gives no access', (await asked(secret)).status === 401);
  await context.close();
}

async function password() {
  const { context, page } = await opened(bob, '/w/account');
  const other = await opened(bob, '/w/account');
  await page.getByLabel('Current password').fill('not the password');
  await page.getByLabel('New password').fill(NEW_PASSWORD);
  await button(page, 'Change the password').click();
  await page.getByRole('alert').getByText('The current password is wrong.').waitFor();
  holds('a wrong password is reported in words', true);
  holds('what was typed stays', await page.getByLabel('New password').inputValue() === NEW_PASSWORD);
  await context.setOffline(true);
  await page.getByLabel('Current password').fill(bob.password);
  await button(page, 'Change the password').click();
  await page.getByRole('alert').getByText('The server is not reached.').first().waitFor();
  holds('offline, the form says it and keeps what was typed', await page.getByLabel('New password').inputValue() === NEW_PASSWORD);
  await context.setOffline(false);
  await button(page, 'Change the password').click();
  await isSaid(page, 'The password is changed. Other sessions and all API tokens have ended.');
  holds('the fields are emptied', await page.getByLabel('New password').inputValue() === '');
  const stored = await kept(page);
  holds('no password is stored', !stored.includes(NEW_PASSWORD) && !stored.includes(bob.password));
  const asked = await other.context.request.get(`${base}/api/v1/me`);
  holds('the other session has ended', asked.status() === 401);
  await other.context.close();
  bob.password = NEW_PASSWORD;
  await page.locator('.account .menu > button').click();
  holds('the menu has no administration for others', await page.getByRole('menuitem', { name: 'Administration' }).count() === 0);
  await page.goto(`${base}/w/admin/people`);
  await page.getByRole('heading', { level: 1, name: 'This page does not exist' }).waitFor();
  holds('nor has the address', await page.locator('.tabs').count() === 0);
  await context.close();
}

async function people() {
  const { context, page } = await opened(ada, '/w');
  await page.locator('.account .menu > button').click();
  await page.getByRole('menuitem', { name: 'Administration' }).click();
  const row = (name) => page.locator('[data-user]', { hasText: name });
  await row('Bob').waitFor();
  holds('the menu leads to the people', page.url() === `${base}/w/admin/people`);
  await page.locator('.add > summary').click();
  const fill = async (name, email) => {
    await page.locator('.add').getByLabel('Name').fill(name);
    await page.locator('.add').getByLabel('E-mail address').fill(email);
    await page.locator('.add').getByLabel('First password').fill('first password');
    await button(page, 'Add').click();
  };
  await fill('Carol', bob.email);
  await page.getByRole('alert').getByText('Another account has this e-mail address.').waitFor();
  holds('an address that is taken is reported', true);
  await fill('Carol', 'carol@example.org');
  await row('carol@example.org').waitFor();
  holds('a person is added', true);
  const isIn = async (who) => (await (await browser.newContext()).request.post(`${base}/api/v1/session`, {
    headers: { 'content-type': 'application/json', origin: base }, data: who,
  })).ok();
  const carol = { email: 'carol@example.org', password: 'first password' };
  holds('the person can sign in', await isIn(carol));
  await page.getByLabel('Find by name or e-mail address').fill('CAROL@');
  await isSaid(page, '1 person');
  holds('people are found by a part of the address', await row('Bob').count() === 0);
  await button(page, 'Actions for Carol').click();
  await page.getByRole('menuitem', { name: 'Disable' }).click();
  await page.locator('.ask').getByRole('button', { name: 'Disable' }).click();
  await row('Carol').getByText('Disabled').waitFor();
  holds('a disabled person cannot sign in', !(await isIn(carol)));
  await context.close();
}

async function groups() {
  const { context, page } = await opened(ada, '/w/admin/groups');
  const group = page.locator('[data-group]', { hasText: 'Writers' });
  await page.locator('.add > summary').click();
  await page.getByLabel('Name of the group').fill('Writers');
  await page.getByRole('checkbox', { name: /^Bob/ }).check();
  await button(page, 'Add').click();
  await group.getByText('Bob', { exact: true }).waitFor();
  holds('a group is made with a member', true);
  await button(page, 'Edit the group Writers').click();
  await group.getByRole('checkbox', { name: /^Bob/ }).uncheck();
  await button(page, 'Save').click();
  await group.getByText('No members').waitFor();
  holds('a member is taken out', true);
  await button(page, 'Remove the group Writers').click();
  await page.locator('.ask').getByRole('button', { name: 'Remove' }).click();
  await isGone(group);
  holds('a group is removed', true);
  await context.close();
}

async function audit() {
  const { context, page } = await opened(ada, '/w/admin/audit', { viewport: { width: 320, height: 640 } });
  const entries = page.locator('.rows > li');
  await entries.first().waitFor();
  const before = await entries.count();
  await button(page, 'Show older entries').click();
  await page.waitForFunction((n) => document.querySelectorAll('.rows > li').length > n, before);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  holds('320 pixels are wide enough for the log', wide <= 0);
  await page.getByRole('combobox', { name: 'Space' }).selectOption({ label: 'Lab' });
  await isSaid(page, '1 entry shown');
  holds('the log of one space has its entries alone', await entries.count() === 1);
  await context.close();
}

await judge(tokens, password, people, groups, audit);
