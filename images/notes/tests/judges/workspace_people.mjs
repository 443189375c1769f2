// Uses the workspace in Chromium as two people at one browser, and prints a line for each scenario that holds.
// Arguments: address, the two people's e-mail addresses and passwords, and the ids of pages and spaces, as JSON.
import { accessible, hasStore, holds, judge, newPage, signIn } from './chromium.mjs';

const [base, given] = process.argv.slice(2);
const { ada, bob, ids } = JSON.parse(given);

/** A browser in which a person has signed in through the plain pages. */
async function opened(who) {
  const { context, page } = await newPage();
  await signIn(page, base, who);
  return { context, page };
}

/** Everything that the browser stores, as one object of lists. */
const stored = async (page) => !await hasStore(page) ? { pages: [], trees: [], pictures: [], values: [] } : page.evaluate(() => new Promise((done) => {
  const opening = indexedDB.open('notes');
  opening.onsuccess = () => {
    const db = opening.result;
    const found = {};
    const names = [...db.objectStoreNames];
    const work = db.transaction(names);
    for (const name of names) {
      work.objectStore(name).getAll().onsuccess = (event) => {
        found[name] = event.target.result.map(({ blob, ...rest }) => rest);
      };
    }
    work.oncomplete = () => { db.close(); done(found); };
  };
}));

/** Waits until a condition on what is stored holds; false if it does not within a minute. */
async function becomes(page, condition) {
  for (let left = 240; left > 0; left -= 1) {
    if (condition(await stored(page))) return true;
    await page.waitForTimeout(250);
  }
  return false;
}

/** Holds the requests that match until the returned function is called; `arrived` is the first one. */
async function held(context, url, kind = 'fetch') {
  let release, arrive;
  const gate = new Promise((done) => { release = done; });
  const arrived = new Promise((done) => { arrive = done; });
  await context.route(url, async (route) => {
    if (route.request().resourceType() !== kind) return route.fallback();
    const answer = await route.fetch().catch(() => undefined);
    arrive();
    await gate;
    await (answer ? route.fulfill({ response: answer }) : route.abort()).catch(() => undefined);
  });
  return { arrived, release };
}

const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();

async function signOut(page, isClearing) {
  await page.getByRole('button', { name: /Account and settings/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  if (isClearing) await page.locator('dialog .buttons button:not(.primary)').click();
  else await page.locator('dialog .primary').click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
}

async function lostSpace() {
  const { context, page } = await opened(bob);
  await page.goto(`${base}/w/p/${ids.lent}`);
  await heading(page, 'Lent');
  await becomes(page, (all) => all.pages.length === 1 && all.trees.length === 1);
  await page.goto(`${base}/w/p/${ids.shared}`);
  await heading(page, 'Shared');
  const both = await becomes(page, (all) => all.pages.length === 2 && all.trees.length === 2);
  holds('pages of two spaces are stored', both);
  await page.goto('about:blank');
  await fetch(`${base}/api/v1/spaces/${ids.lentSpace}/members`, {
    method: 'PUT', body: JSON.stringify({ grants: [{ principal: ids.ada, kind: 'user', role: 'manager' }] }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` },
  });
  await page.goto(`${base}/w`);
  await page.getByRole('treeitem').first().waitFor();
  const isGone = await becomes(page, (all) => all.trees.length === 1 && all.pages.length === 1);
  const all = await stored(page);
  holds('a lost space is removed from what is stored', isGone && !JSON.stringify(all).includes('lent text'));
  holds('the other space stays', all.pages[0]?.id === ids.shared);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  holds('a lost page is not offered', await page.getByRole('option', { name: 'Lent' }).count() === 0);
  await context.close();
}

async function lateAnswers() {
  const { context, page } = await opened(ada);
  await page.goto(`${base}/w/p/${ids.secret}`);
  await heading(page, 'Secret');
  await becomes(page, (all) => all.pages.length === 1);
  const lists = await held(context, '**/api/v1/favourites');
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await lists.arrived;
  await signOut(page, true);
  lists.release();
  await page.waitForTimeout(1500);
  const all = await stored(page);
  const count = Object.values(all).reduce((sum, list) => sum + list.length, 0);
  holds('nothing is stored after a sign-out that deletes', count === 0);
  await context.close();
}

async function latePicture() {
  const { context, page } = await opened(ada);
  const picture = await held(context, '**/api/v1/attachments/*');
  await page.goto(`${base}/w/p/${ids.secret}`);
  await heading(page, 'Secret');
  await picture.arrived;
  await signOut(page, false);
  picture.release();
  await page.waitForTimeout(1500);
  const all = await stored(page);
  holds('a picture that arrives after the sign-out is not stored', all.pictures.length === 0);
  holds('a sign-out keeps the pages', all.pages.length === 1);
  await context.close();
}

async function anotherUser() {
  const { context, page } = await opened(ada);
  await page.goto(`${base}/w/p/${ids.secret}`);
  await heading(page, 'Secret');
  await becomes(page, (all) => all.pages.length === 1 && all.trees.length === 1);
  const late = await held(context, `**/api/v1/nodes/${ids.secret}`);
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await late.arrived;
  const other = await context.newPage();
  await context.clearCookies();
  await signIn(other, base, bob);
  await other.goto(`${base}/w/p/${ids.shared}`);
  await heading(other, 'Shared');
  await becomes(other, (all) => all.pages.some((one) => one.id === ids.shared));
  late.release();
  await page.waitForTimeout(1500);
  const all = await stored(other);
  holds("a late answer stores nothing of the user before", !JSON.stringify(all).includes('secret text'));
  holds('what the second user stores is theirs', all.values.every((one) => one.user === ids.bob)
    && all.pages.every((one) => one.user === ids.bob) && all.trees.every((one) => one.user === ids.bob));
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  holds('a tab of the first user shows the second one', !(await page.content()).includes('secret text'));
  holds('the second user stays signed in', (await stored(other)).values.find((one) => one.name === 'session')?.value.isActive === true);
  await context.close();
}

async function startOfAnother() {
  const { context, page } = await opened(ada);
  await page.goto(`${base}/w/p/${ids.secret}`);
  await heading(page, 'Secret');
  await becomes(page, (all) => all.pages.length === 1 && all.trees.length === 1);
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.waitForTimeout(1500);
  const me = await held(context, '**/api/v1/me');
  await page.reload();
  await me.arrived;
  await page.waitForTimeout(600);
  holds('nothing is shown before the server has answered', !(await page.content()).includes('secret text'));
  await heading(page, 'Secret');
  holds('a slow server is not waited for', true);
  me.release();
  await context.unroute('**/api/v1/me');
  // The session ends, and another person signs in through the plain pages.
  await page.goto('about:blank');
  await context.clearCookies();
  await signIn(page, base, bob);
  const slow = await held(context, '**/api/v1/me');
  const answer = await held(context, `**/api/v1/nodes/${ids.secret}`);
  await page.goto(`${base}/w/p/${ids.secret}`);
  await slow.arrived;
  await page.waitForTimeout(5000);
  holds("another user never sees the last one's pages", !(await page.content()).includes('secret text'));
  slow.release();
  answer.release();
  await context.unrouteAll({ behavior: 'ignoreErrors' });
  await context.setOffline(true);
  await page.goto('about:blank');
  await page.goto(`${base}/w/p/${ids.secret}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  holds('nor without a network', !(await page.content()).includes('secret text'));
  await context.close();
}

const text = (page) => page.locator('.ProseMirror');
const question = (page) => page.locator('dialog[aria-labelledby=expired]');
const onServer = async () => {
  const answer = await fetch(`${base}/api/v1/nodes/${ids.secret}/live`, { headers: { authorization: `Bearer ${ada.token}` } });
  return JSON.stringify((await answer.json()).doc);
};

/** True as soon as the server has the words; false if it has not within half a minute. */
async function reaches(words) {
  for (let left = 120; left > 0; left -= 1) {
    if ((await onServer()).includes(words)) return true;
    await new Promise((done) => { setTimeout(done, 250); });
  }
  return false;
}

/** Ada writes words; the browser has deleted the cookie of her session, as it does when that expires. */
async function expired(words, more = {}, edit = 'Edit') {
  const { context, page } = await newPage(more);
  await signIn(page, base, ada);
  if (more.locale) {
    await page.route('**/api/v1/site', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...await answer.json(), has_sign_on: true } });
    });
  }
  await page.goto(`${base}/w/p/${ids.secret}`);
  await heading(page, 'Secret');
  await page.getByRole('button', { name: edit, exact: true }).first().click();
  await text(page).click();
  await page.keyboard.press('Control+Home');
  await context.clearCookies({ name: 'notes' });
  const sent = [];
  page.on('request', (one) => { if (one.url().endsWith('/edits') && one.method() === 'POST') sent.push(one.url()); });
  await page.keyboard.type(words, { delay: 60 });
  await question(page).waitFor();
  return { context, page, sent };
}

const focused = (page) => page.evaluate(() => document.activeElement?.type ?? document.activeElement?.tagName);
const typedIn = ({ steps }) => steps.flatMap(({ slice }) => slice?.content ?? []).map((one) => one.text ?? '').join('');
const draftOf = (page, words) => becomes(page, (all) => all.drafts.some((one) => typedIn(one).includes(words)));

async function signInAgain() {
  const { context, page } = await expired('typed later ', { bypassCSP: true });
  holds('an expired sign-in leaves the page and its text in view, and no key is lost', (await text(page).innerText()).includes('typed later '));
  holds('the question has the focus, in the field for the password', await focused(page) === 'password');
  holds('the text is stored', await draftOf(page, 'typed later'));
  await accessible(page, 'the question for an expired sign-in');
  for (const key of ['Escape', 'Escape', 'Escape', 'Control+k', 'F6']) await page.keyboard.press(key);
  holds('no key closes the question, or opens anything', await question(page).isVisible() && await page.locator('dialog[open]').count() === 1);
  await page.mouse.click(5, 5);
  await page.keyboard.press('Control+k');
  holds('nor does a click beside it', await question(page).isVisible() && await page.locator('dialog[open]').count() === 1);
  await page.fill('dialog input[type=password]', 'not that one');
  await page.keyboard.press('Enter');
  await question(page).getByRole('alert').waitFor();
  holds('a wrong password is refused, and nothing is sent', !(await onServer()).includes('typed later'));
  await page.fill('dialog input[type=password]', ada.password);
  await page.keyboard.press('Enter');
  await question(page).waitFor({ state: 'detached' });
  await page.locator('[data-saving=saved]').waitFor();
  holds('the same person signs in again, and what was not sent is sent', (await onServer()).includes('typed later '));
  await page.keyboard.type('and on ', { delay: 60 });
  await page.waitForTimeout(1000);
  await page.locator('[data-saving=saved]').waitFor();
  holds('the caret is where it was', (await onServer()).includes('typed later and on '));
  await context.close();
}

async function signInOfAnother() {
  const { context, page, sent } = await expired('for nobody else ');
  holds('the text of the first person is stored', await draftOf(page, 'for nobody else'));
  const other = await context.newPage();
  await signIn(other, base, bob);
  await page.waitForTimeout(1500);
  sent.length = 0;
  holds('who signs in beside the question never sees the page of the first person', !(await page.content()).includes('for nobody else'));
  await other.goto(`${base}/w/p/${ids.shared}`);
  await heading(other, 'Shared');
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.waitForTimeout(2500);
  holds('and sends nothing of theirs', sent.length === 0 && !(await onServer()).includes('for nobody else'));
  await page.close();
  await context.clearCookies();
  await signIn(other, base, ada);
  await other.goto(`${base}/w`);
  const isSent = await reaches('for nobody else ');
  holds('it is sent when its person signs in again', isSent);
  await context.close();
}

async function signOnAgain() {
  const { context, page } = await expired('mit Anmeldung ', { locale: 'de-DE', bypassCSP: true }, 'Bearbeiten');
  holds('the question is in German', await question(page).getByRole('heading', { name: 'Ihre Anmeldung ist abgelaufen' }).isVisible());
  await accessible(page, 'the question with a single sign-on');
  // The provider signs her in, and the browser comes back.
  await page.route('**/auth/oidc/start**', async (route) => {
    const data = { email: ada.email, password: ada.password };
    await context.request.post(`${base}/api/v1/session`, { data, headers: { origin: base } });
    await route.fulfill({ status: 303, headers: { location: new URL(route.request().url()).searchParams.get('return_to') } });
  });
  await page.getByRole('link', { name: 'Mit Ihrer Organisation anmelden' }).press('Enter');
  await page.waitForURL(`${base}/w/p/${ids.secret}`);
  await heading(page, 'Secret');
  await page.locator('.prose', { hasText: 'mit Anmeldung' }).waitFor();
  const isSent = await reaches('mit Anmeldung ');
  holds('a single sign-on comes back to the page, and what was not sent is sent', isSent);
  await context.close();
}

await judge(lostSpace, lateAnswers, latePicture, anotherUser, startOfAnother, signInAgain, signInOfAnother, signOnAgain);
