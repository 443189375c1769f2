// Uses the account and the administration in Chromium, and prints a line for each scenario that holds.
// Arguments: address, and two people's e-mail addresses and passwords as JSON. The first is an administrator.
import { accessible, browser, holds, judge, newPage } from './chromium.mjs';
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

/** Opens a link as somebody who is not signed in, in a browser without scripts. */
async function atLink(link, more = {}) {
  const { context, page } = await newPage({ javaScriptEnabled: false, ...more }, 40_000);
  await page.goto(link);
  return { context, page, title: await page.getByRole('heading', { level: 1 }).innerText() };
}

async function invitations() {
  const { context, page } = await opened(ada, '/w/admin/people');
  const hasFocus = (found) => found.evaluate((one) => one === document.activeElement);
  const form = page.locator('[data-invite]');
  const invite = button(page, 'Invite');
  /** Makes a link with the keyboard alone, but for the choice of a role. */
  const made = async (email, name, role) => {
    await invite.focus();
    await page.keyboard.press('Enter');
    await form.waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(name);
    if (role) await form.getByRole('combobox', { name: 'Team' }).selectOption(role);
    await form.getByLabel('Name').press('Enter');
    await page.locator('.secret', { hasText: email }).waitFor();
    return page.locator('.secret code').innerText();
  };
  await invite.focus();
  await page.keyboard.press('Enter');
  await form.getByRole('combobox', { name: 'Team' }).waitFor();
  holds('the focus is on the address to invite', await hasFocus(form.getByLabel('E-mail address')));
  await accessible(page, 'the form of an invitation');
  await page.keyboard.press('Escape');
  await isGone(form);
  holds('Escape ends the form, and the focus is on its button', await hasFocus(invite));
  await invite.click();
  await form.getByLabel('E-mail address').fill(bob.email);
  await button(page, 'Make the link').click();
  await form.getByRole('alert').getByText('Another account has this e-mail address.').waitFor();
  holds('an address that has an account is not invited', await form.getByLabel('E-mail address').inputValue() === bob.email);
  await form.getByRole('button', { name: 'Cancel' }).click();
  const link = await made('dora@example.org', 'Dorothy', 'editor');
  holds('the focus goes to the link', await hasFocus(page.locator('.secret')));
  await accessible(page, 'the link of an invitation');
  const secret = link.split('/')[4];
  holds('the link has a secret', link.startsWith(`${base}/s/`) && secret.length >= 32);
  holds('the secret of the link is neither stored nor logged', !(await kept(page)).includes(secret) && !page.logged.includes(secret));
  const row = (email) => page.locator('[data-invitation]', { hasText: email });
  await row('dora@example.org').getByText('Invited by Ada').waitFor();
  await button(page, 'Done').click();
  holds('a link that was put away is not in the page', !(await page.content()).includes(secret));
  holds('then the focus is on the button', await hasFocus(invite));
  const second = await made('mallory@example.org', '');
  const wide = await page.setViewportSize({ width: 320, height: 640 })
    .then(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth));
  holds('320 pixels are wide enough for the invitations', wide <= 0);
  await page.setViewportSize({ width: 1280, height: 800 });
  await button(page, 'Revoke the invitation of mallory@example.org').focus();
  await page.keyboard.press('Enter');
  await page.locator('.ask').waitFor();
  await page.keyboard.press('Escape');
  await isGone(page.locator('.ask'));
  holds('Escape revokes nothing', await row('mallory@example.org').count() === 1);
  await page.keyboard.press('Enter');
  await page.locator('.ask').getByRole('button', { name: 'Revoke' }).press('Enter');
  await isGone(row('mallory@example.org'));
  holds('a revoked link is not shown any more', !(await page.content()).includes(second));
  const shut = await atLink(second);
  holds('a revoked link opens nothing', shut.title === 'This invitation does not hold');
  await shut.context.close();
  const german = await atLink(link, { locale: 'de-DE' });
  holds('the page of a link is in the language of its reader', german.title === 'Ihr Konto für Notes');
  await german.context.close();
  const withScripts = await newPage({ locale: 'de-DE' });
  await withScripts.page.goto(link);
  await accessible(withScripts.page, 'the page of a link');
  await withScripts.context.close();
  const dora = { email: 'dora@example.org', password: 'a password of mine' };
  const visitor = await atLink(link);
  holds('the page shows whom it is for', await visitor.page.getByLabel('E-mail address').inputValue() === dora.email
    && await visitor.page.getByLabel('Your name').inputValue() === 'Dorothy');
  await visitor.page.getByLabel('Your name').fill('Dora');
  await visitor.page.getByLabel('A password').fill(dora.password);
  await Promise.all([visitor.page.waitForURL(`${base}/`), visitor.page.getByRole('button', { name: 'Make the account' }).click()]);
  holds('the person is signed in, and sees the space', await visitor.page.getByRole('link', { name: 'Team' }).count() === 1
    && await visitor.page.getByRole('button', { name: 'Sign out Dora' }).count() === 1);
  holds('and no other space', await visitor.page.getByRole('link', { name: 'Lab' }).count() === 0);
  await visitor.page.goto(link);
  holds('an accepted link opens nothing', await visitor.page.getByRole('heading', { name: 'This invitation does not hold' }).count() === 1);
  await visitor.context.close();
  const later = await opened(dora, '/w');
  await later.page.locator('.switcher', { hasText: 'Team' }).waitFor();
  holds('later the person signs in, and may write there', await button(later.page, 'New page').count() > 0);
  await later.context.close();
  await page.reload();
  await page.locator('[data-user]', { hasText: 'Dora' }).waitFor();
  holds('the accepted invitation is not listed as open', await row('dora@example.org').count() === 0);
  await page.goto(`${base}/w/admin/audit`);
  await page.getByText('accepted an invitation').waitFor();
  holds('the audit log has it in words', await page.getByText('revoked an invitation').count() === 1);
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

await judge(tokens, password, people, groups, invitations, audit);
