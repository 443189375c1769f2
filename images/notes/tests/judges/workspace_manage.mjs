// Manages spaces and the installation in Chromium, and prints a line for each scenario that holds.
// Arguments: address; two people's sign-ins, the ids of two spaces and an identity provider as JSON. The first is an administrator.
import { accessible, holds, judge, newPage } from './chromium.mjs';
import { signIn } from './screen_acts.mjs';

const [base, given] = process.argv.slice(2);
const { ada, bob, team, gone, issuer, secret } = JSON.parse(given);
/** Where to put a picture of a trial's result; it has no place among the screens, since it needs a provider. */
const picture = process.env.TRIAL_PICTURE;

async function opened({ email, password }, path, more = {}) {
  const { context, page } = await newPage(more, 40_000);
  await signIn(context, base, { email, password });
  await page.goto(base + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

const button = (page, name) => page.getByRole('button', { name, exact: true });
const isSaid = (page, text) => page.getByText(text, { exact: true }).first().waitFor();
const alert = (page, text) => page.getByRole('alert').getByText(text).first().waitFor();
const heading = (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const api = async (context, path) => (await context.request.get(base + path)).json();
const section = (page, id) => page.locator(`section[aria-labelledby=${id}]`);
const settings = (id) => `/w/s/${id}/settings`;

/** A new space, made with the keyboard alone from the switcher of the sidebar. */
async function newSpace() {
  const { context, page } = await opened(ada, '/w');
  await page.locator('.switcher > button').focus();
  await page.keyboard.press('Enter');
  await page.locator('.switcher [aria-checked=true]:focus').waitFor();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.locator('dialog[open] input[name=name]').waitFor();
  await page.keyboard.type('Größe & Ziele');
  await page.keyboard.press('Enter');
  await heading(page, 'Größe & Ziele');
  const made = (await api(context, '/api/v1/spaces')).find((one) => one.name === 'Größe & Ziele');
  holds('a space is made with the keyboard, with a short name made of its name', made.slug === 'grosse-ziele');
  holds('it is shown in the switcher', await page.locator('.switcher > button').innerText().then((text) => text.includes('Größe')));
  await context.close();
}

async function general() {
  const { context, page } = await opened(ada, `/w/s/${team}`);
  await page.getByRole('link', { name: 'Settings of the space' }).click();
  await heading(page, 'Settings of Team');
  const part = section(page, 'space-general');
  await part.getByLabel('Short name').fill('taken');
  await part.getByRole('button', { name: 'Save' }).click();
  await alert(page, 'A space with this slug exists.');
  holds('a short name that is taken is refused', await part.getByLabel('Short name').inputValue() === 'taken');
  await context.setOffline(true);
  await part.getByLabel('Short name').fill('crew');
  await part.getByLabel('Name', { exact: true }).fill('Crew');
  await part.getByRole('button', { name: 'Save' }).click();
  await alert(page, 'The server is not reached.');
  holds('offline, the form keeps what was typed', await part.getByLabel('Short name').inputValue() === 'crew');
  await context.setOffline(false);
  await part.getByRole('button', { name: 'Save' }).click();
  await heading(page, 'Settings of Crew');
  const now = await api(context, `/api/v1/spaces/${team}`);
  holds('a space is renamed, and the sidebar with it', now.slug === 'crew'
    && (await page.locator('.switcher > button').innerText()).includes('Crew'));
  await section(page, 'space-use').getByText(/of 50,000/).last().waitFor();
  holds('the use of a space is beside its limit', true);
  await context.close();
}

async function members() {
  const { context, page } = await opened(ada, settings(team));
  const rolesNow = async () => Object.fromEntries(
    (await api(context, `/api/v1/spaces/${team}/members`)).map((one) => [one.name, one.role]));
  const add = async (text, name, role) => {
    await page.getByRole('combobox', { name: 'Name or e-mail address' }).fill(text);
    await page.getByRole('option', { name }).click();
    await page.locator('.add').getByRole('combobox', { name: 'Role', exact: true }).selectOption(role);
    await button(page, 'Add').click();
    await isSaid(page, `${name} is a member now.`);
  };
  await page.locator('.add > summary').first().click();
  await add('BOB@example', 'Bob', 'viewer');
  await add('writ', 'Writers', 'editor');
  holds('a person and a group are added', JSON.stringify(await rolesNow()) === JSON.stringify({ Writers: 'editor', Ada: 'manager', Bob: 'viewer' }));
  await page.getByRole('combobox', { name: 'Name or e-mail address' }).fill('bob');
  await isSaid(page, 'Nobody who is not a member yet has this name or address.');
  holds('members are not found again', true);
  await page.getByRole('combobox', { name: 'Role of Bob' }).selectOption('manager');
  await isSaid(page, 'The role of Bob is changed.');
  holds('a role is changed', (await rolesNow()).Bob === 'manager');
  const bob_id = (await api(context, `/api/v1/spaces/${team}/members`)).find((one) => one.name === 'Bob').principal;
  await page.route('**/members/*', async (route) => {
    const headers = { origin: base };
    await context.request.put(`${base}/api/v1/spaces/${team}/members/${bob_id}`, { headers, data: { kind: 'user', role: 'commenter' } });
    await route.continue();
  }, { times: 1 });
  await page.getByRole('combobox', { name: 'Role of Bob' }).selectOption('viewer');
  await alert(page, 'Somebody else has just changed this role.');
  await page.waitForFunction(() => document.querySelector('[aria-label="Role of Bob"]')?.value === 'commenter');
  holds('a role that somebody else has just changed is not overwritten', (await rolesNow()).Bob === 'commenter');
  await page.getByRole('combobox', { name: 'Role of Bob' }).selectOption('manager');
  await page.waitForFunction(() => !document.querySelector('[data-member] [role=alert]'));
  await page.getByRole('combobox', { name: 'Role of Ada' }).selectOption('viewer');
  await page.getByRole('group', { name: /^Give up managing/ }).waitFor();
  await page.keyboard.press('Escape');
  holds('managers are asked before they give up managing', (await rolesNow()).Ada === 'manager');
  await button(page, 'Remove Writers').click();
  await page.locator('.ask').getByRole('button', { name: 'Remove' }).click();
  await isSaid(page, 'Writers is no longer a member.');
  holds('a group is removed', !('Writers' in await rolesNow()));
  await page.getByRole('combobox', { name: 'Role of Everybody who signs in' }).selectOption('viewer');
  await isSaid(page, 'Everybody who signs in, since everybody has a role here.');
  holds('the screen tells who sees the names', (await api(context, `/api/v1/spaces/${team}`)).everyone_role === 'viewer');
  await context.close();
}

/** A manager who is not an administrator, in German, on a screen of 320 pixels. */
async function manager() {
  const { context, page } = await opened(bob, settings(team), { locale: 'de-DE', viewport: { width: 320, height: 640 } });
  await heading(page, 'Einstellungen von Crew');
  await page.getByRole('combobox', { name: 'Rolle von Ada' }).waitFor();
  holds('a manager sees the names of the members, in German', true);
  await page.getByText('Person oder Gruppe hinzufügen').click();
  await page.getByRole('combobox', { name: 'Name oder E-Mail-Adresse' }).fill('Ad');
  await page.getByText('So heißt niemand, der nicht schon Mitglied ist.').waitFor();
  holds('a manager looks people up, and finds no member again', true);
  const part = section(page, 'space-site');
  await part.getByRole('textbox', { name: /^Domain/ }).fill('localhost');
  await part.getByRole('button', { name: 'Speichern' }).click();
  await alert(page, 'Das ist kein Name einer Domain.');
  await part.getByRole('textbox', { name: /^Domain/ }).fill('CREW.example.org.');
  await part.getByRole('checkbox', { name: /Website unter/ }).check();
  await part.getByRole('button', { name: 'Speichern' }).click();
  await page.locator('[data-served=false]').waitFor();
  holds('the focus stays where it was', await part.getByRole('button', { name: 'Speichern' }).evaluate((one) => one === document.activeElement));
  const steps = await part.locator('ol .chip').allInnerTexts();
  holds('a claimed domain waits for the approval, and says what it needs',
    await part.getByRole('textbox', { name: /^Domain/ }).inputValue() === 'crew.example.org'
    && JSON.stringify(steps.slice(0, 3)) === JSON.stringify(['Von Ihnen zu prüfen', 'Fehlt', 'Erledigt']));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  holds('320 pixels are wide enough for the settings of a space', wide <= 0);
  await page.goto(base + settings(gone));
  await page.getByRole('heading', { level: 1 }).waitFor();
  holds('a space that one may not see has no settings', await page.locator('.managed').count() === 0);
  await context.close();
}

async function deletion() {
  const { context, page } = await opened(ada, settings(gone));
  const part = section(page, 'space-deletion');
  await part.locator('summary').click();
  await part.getByRole('textbox').fill('Old');
  await part.getByRole('button', { name: 'Delete permanently' }).click();
  holds('another name deletes nothing', (await context.request.get(`${base}/api/v1/spaces/${gone}`)).ok()
    && await part.getByRole('textbox').evaluate((one) => one.validationMessage) === 'This is not the name of the space.');
  await part.getByRole('textbox').fill('Old. (2024)');
  await part.getByRole('button', { name: 'Delete permanently' }).click();
  await isSaid(page, 'The space Old. (2024) is deleted.');
  holds('the typed name deletes the space', (await context.request.get(`${base}/api/v1/spaces/${gone}`)).status() === 404);
  await context.close();
}

async function domains() {
  const { context, page } = await opened(ada, '/w/admin/domains');
  const manager = await opened(bob, settings(team));
  await manager.page.locator('[data-served=false]').waitFor();
  await button(page, 'Approve crew.example.org for Crew').click();
  await isSaid(page, 'crew.example.org is approved.');
  await manager.page.locator('[data-served=true]').waitFor();
  holds('an approved domain is served, and its manager sees it without a reload', true);
  await button(page, 'Withdraw crew.example.org from Crew').click();
  await page.locator('.ask').getByRole('button', { name: 'Withdraw' }).click();
  await isSaid(page, 'The approval of crew.example.org is withdrawn.');
  holds('an approval is withdrawn', (await api(context, '/api/v1/domains'))[0].approved === false);
  await manager.context.close();
  await context.close();
}

async function limits() {
  const { context, page } = await opened(ada, '/w/admin/limits');
  const before = await api(context, '/api/v1/quotas');
  const part = section(page, 'limits-defaults');
  await part.getByLabel('Pages of a person').fill('40000');
  await part.getByRole('button', { name: 'Save' }).click();
  await isSaid(page, 'Saved.');
  const now = await api(context, '/api/v1/quotas');
  holds('a default limit is set, and the others stay to the byte',
    JSON.stringify(now) === JSON.stringify({ ...before, account_pages: 40_000 }));
  const own = section(page, 'limits-spaces');
  await own.getByRole('combobox').selectOption({ label: 'Crew' });
  await own.getByLabel('Storage, GB').fill('1.5');
  await own.getByRole('spinbutton', { name: 'Pages' }).fill('10');
  await own.getByRole('button', { name: 'Save' }).click();
  await own.getByText('0 of 10', { exact: true }).first().waitFor();
  const usage = await api(context, `/api/v1/spaces/${team}/usage`);
  holds('a space has limits of its own', usage.bytes.limit === 1.5e9 && usage.bytes.is_own && usage.pages.limit === 10);
  await own.getByRole('spinbutton', { name: 'Pages' }).fill('');
  await own.getByRole('button', { name: 'Save' }).click();
  await own.getByText('0 of 50,000', { exact: true }).first().waitFor();
  holds('an empty field is the default again', true);
  const people = section(page, 'limits-users');
  await people.getByRole('combobox').selectOption({ label: 'Bob (bob@example.org)' });
  await people.getByRole('spinbutton', { name: 'Spaces' }).fill('3');
  await people.getByRole('button', { name: 'Save' }).click();
  await people.getByText('0 of 3', { exact: true }).first().waitFor();
  holds('a person has limits of their own', true);
  await context.close();
}

/** Signs in at the provider as a person, in the tab of a trial. */
async function signInAt(tab, name) {
  await tab.locator('input[name=login]').fill(name);
  await tab.locator('input[name=password]').fill('x');
  await tab.locator('button[type=submit]').click();
  await tab.getByRole('button', { name: 'Continue' }).click();
}

async function signOn() {
  const { context, page } = await opened(ada, '/w/admin/sign-on', { bypassCSP: true });
  const before = await Promise.all(['users', 'groups', 'settings/oidc'].map((one) => api(context, `/api/v1/${one}`)));
  const cookies = async () => JSON.stringify((await context.cookies(base)).filter((one) => one.name === 'notes'));
  const session = await cookies();
  for (const [label, value] of [[/^Issuer/, issuer], [/^Client$/, 'notes'], [/^Client secret/, secret], [/^Claim that lists/, 'groups'], [/^Group of the adm/, 'admins']]) {
    await page.getByLabel(label).fill(value);
  }
  await button(page, 'Try these settings').click();
  await page.locator('[data-trial=waiting]').waitFor();
  holds('a trial waits for the sign-in in another tab', true);
  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('link', { name: 'Sign in by these settings' }).click(),
  ]);
  await signInAt(tab, 'ada');
  await tab.locator('[data-trial=done]').waitFor();
  await page.locator('[data-trial=done]').waitFor();
  holds('both tabs show that it has succeeded', true);
  const said = await page.locator('[data-trial]').innerText();
  holds('it shows the claims and the account', ['ada@id.example', 'It would make an account for Ada Id', 'is an administrator', 'admins and writers'].every((one) => said.includes(one)));
  const after = await Promise.all(['users', 'groups', 'settings/oidc'].map((one) => api(context, `/api/v1/${one}`)));
  holds('it makes no account, no group and no session, and sets nothing', JSON.stringify(after) === JSON.stringify(before) && await cookies() === session);
  await accessible(page, 'the result of a trial');
  if (picture) await page.screenshot({ path: picture });
  await page.reload();
  await page.locator('[data-trial=done]').waitFor();
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, location.href]) + document.body.innerHTML);
  holds('after a reload the result is there, and the secret nowhere', !kept.includes(secret));
  await button(page, 'Use these settings for everybody').click();
  await isSaid(page, `People sign in with ${issuer}.`);
  holds('the tried settings are used for everybody', (await api(context, '/api/v1/settings/oidc')).configured);
  await button(page, 'Remove single sign-on').click();
  await page.locator('.ask').getByRole('button', { name: 'Remove single sign-on' }).click();
  await isSaid(page, 'Single sign-on is not set up.');
  holds('single sign-on is removed', !(await api(context, '/api/v1/settings/oidc')).configured);
  await context.close();
}

async function sessions() {
  const here = await opened(bob, '/w/account');
  const phone = await opened(bob, '/w', { userAgent: 'Mozilla/5.0 (Android 14; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0' });
  const third = await opened(bob, '/w');
  const { context, page } = here;
  await page.reload();
  await button(page, 'End all other sessions').waitFor();
  const rows = page.locator('[data-session]');
  holds('the sessions are listed, this one first', (await rows.first().innerText()).includes('This browser')
    && await rows.filter({ hasText: 'Firefox on Android' }).count() === 1);
  await rows.filter({ hasText: 'Firefox on Android' }).getByRole('button').click();
  await page.keyboard.press('Escape');
  await rows.filter({ hasText: 'Firefox on Android' }).getByRole('button').click();
  await page.locator('.ask').getByRole('button', { name: 'End', exact: true }).click();
  await isSaid(page, 'The session of Firefox on Android has ended.');
  await phone.page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  holds('a browser whose session has ended is signed out at once', true);
  await button(page, 'End all other sessions').click();
  await page.locator('.ask').getByRole('button', { name: 'End all other sessions' }).click();
  await third.page.getByRole('heading', { level: 1, name: 'You are signed out' }).waitFor();
  await page.locator('[data-session]').nth(1).waitFor({ state: 'detached' });
  holds('all others are ended, and this one stays', (await context.request.get(`${base}/api/v1/me`)).ok() && await rows.count() === 1);
  for (const one of [here, phone, third]) await one.context.close();
}

await judge(newSpace, general, members, manager, domains, limits, signOn, sessions, deletion);
