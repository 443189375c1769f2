// Rows of the notes application's contract (§1, §2, §4, §6) as a person meets them in Chromium, at both edges. Prints a
// line for each thing that holds. `SCENARIO` names the row; the argument is what test_workspace_rows.py knows, as JSON.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../../images/notes/tests/judges/qr.mjs';
import { ada, ask, base, bob, edit, given, go, heading, holds, judge, person, profiled, signIn, until, visitor } from './edges.mjs';
import { chunks } from './rows_upload.mjs';

const EDGES = [0, 1];
/** More requests than there are replicas at an edge, which gives one after the other to each. */
const EACH = [1, 2, 3, 4];
const next = (page) => page.getByRole('button', { name: /^(Next|Set up)$/ }).click();

/** §1.6: the first visit to a new installation shows a setup wizard, at any address; later visits don't. */
async function setup() {
  const [one, other] = await Promise.all(EDGES.map((edge) => visitor(edge)));
  for (const { page } of [one, other]) {
    for (const path of ['/login', '/w', '/']) {
      await go(page, base + path);
      await heading(page, 'Welcome');
    }
  }
  holds('the first visit shows the wizard at each edge', [one, other].every(({ page }) => page.url() === `${base}/w/setup`));
  await one.page.getByLabel('Name of the site').fill('Our notes');
  for (const [{ page }, email] of [[one, ada.email], [other, 'mallory@example.org']]) {
    await next(page);
    await heading(page, 'Your account');
    await page.getByLabel('Your name').fill('Ada');
    await page.getByLabel('Your e-mail address').fill(email);
    await page.getByLabel('Password').fill(ada.password);
    await next(page);
    await heading(page, 'A short tour');
  }
  await next(one.page);
  await one.page.waitForURL(`${base}/w/p/*`);
  await heading(one.page);
  const me = await ask(one.page, 'GET', '/me');
  holds('who sets it up is signed in, and its administrator', me.email === ada.email && me.is_admin);
  await next(other.page);
  await heading(other.page, 'The setup is done');
  holds('the second of two at once, at the other edge, makes no account', await other.page.getByRole('link', { name: 'Sign in' }).count() === 1
    && (await ask(one.page, 'GET', '/users')).length === 1);
  await one.context.close();
  await other.context.close();
  for (const edge of EDGES) {
    const { context, page } = await visitor(edge);
    for (const _ of EACH) {
      await go(page, `${base}/setup`);
      await page.locator('input[name=password]').waitFor();
      if (page.url() !== `${base}/login` || await page.getByRole('heading', { name: 'Welcome' }).count()) throw new Error('the wizard again');
    }
    await context.close();
  }
  holds('afterwards each replica leads to the sign-in', true);
}

const stored = (page, kind) => page.evaluate((name) => new Promise((done) => {
  indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
    db.transaction(name).objectStore(name).getAllKeys().onsuccess = (one) => { db.close(); done(JSON.stringify(one.target.result)); };
  };
}), kind);

/** §1.2: it can be installed; what a signed-in person has read is there offline, and nothing else. */
async function offline() {
  const folder = mkdtempSync(join(tmpdir(), 'notes-rows-'));
  const context = await profiled(folder);
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await signIn(page, base, bob);
  await page.goto(`${base}/w/p/${given.read}`);
  await heading(page, 'Read');
  const wire = await context.newCDPSession(page);
  const { errors, data } = await wire.send('Page.getAppManifest');
  const { installabilityErrors } = await wire.send('Page.getInstallabilityErrors');
  holds('Chromium finds nothing against an installation', errors.length === 0 && installabilityErrors.length === 0);
  const manifest = JSON.parse(data);
  holds('installed, it opens in a window of its own', manifest.display === 'standalone'
    && ['192x192', '512x512'].every((size) => manifest.icons.some((icon) => icon.sizes === size)));
  await page.evaluate(() => navigator.serviceWorker.ready);
  await until(async () => (await stored(page, 'pages')).includes(given.read), () => stored(page, 'pages'));
  await page.waitForTimeout(2000);
  await page.close();
  await context.setOffline(true);
  // The application is opened anew, as from its icon.
  const again = await context.newPage();
  const answer = await again.goto(`${base}/w/p/${given.read}`);
  holds('the shell comes from the service worker', answer.fromServiceWorker());
  await heading(again, 'Read');
  await again.locator('.prose', { hasText: 'Words of the page that was read.' }).waitFor();
  holds('a page that was read is there offline', true);
  holds('the workspace says that it is offline', await until(() => again.getByText('Offline', { exact: true }).count().then(Boolean)));
  await again.goto(`${base}/w/p/${given.unread}`);
  await heading(again, 'This page is not stored on this device');
  holds('a page that was not read is not', !(await again.content()).includes('Words of the page that was not read'));
  await context.setOffline(false);
  await again.goto(`${base}/w/p/${given.read}`);
  await heading(again, 'Read');
  await again.getByRole('button', { name: /Account and settings/ }).click();
  await again.getByRole('menuitem', { name: 'Sign out' }).click();
  await again.locator('dialog .primary').click();
  await heading(again, 'You are signed out');
  await context.setOffline(true);
  await again.goto(`${base}/w/p/${given.read}`);
  await heading(again, 'You are offline');
  holds('it is there for who is signed in alone', !(await again.content()).includes('Words of the page that was read'));
  await context.close();
  rmSync(folder, { recursive: true, force: true });
}

/** §1.4: single sign-on by OpenID Connect; the steps of one sign-in go to both replicas. */
async function signOn() {
  for (const [edge, name, isAdmin] of [[0, 'ada', true], [1, 'ada', true], [0, 'bob', false], [1, 'bob', false]]) {
    const { context, page } = await visitor(edge);
    const [started, back] = [[], []];
    page.on('request', (one) => {
      if (one.url().startsWith(`${given.issuer}/auth?`)) started.push(new URL(one.url()).searchParams.get('redirect_uri'));
      if (one.url().startsWith(`${base}/auth/oidc/callback?`)) back.push(one.url());
    });
    await page.goto(`${base}/login`);
    await page.getByRole('link', { name: 'Sign in with your organisation' }).click();
    await page.locator('input[name=login]').fill(name);
    await page.locator('input[name=password]').fill('x');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${base}/`);
    holds(`${name} comes back by the callback of the contract, edge ${edge}`, back.length === 1 && started.join() === `${base}/auth/oidc/callback`);
    await page.goto(`${base}/w`);
    await heading(page);
    const seen = [];
    for (const _ of EACH) seen.push(await ask(page, 'GET', '/me'));
    holds(`${name} is signed in at each replica, with the rights of the group, edge ${edge}`,
      seen.every((me) => me.email === `${name}@id.example` && me.is_admin === isAdmin));
    holds(`the session is a secure cookie of this host alone, edge ${edge}`, (await context.cookies(base))
      .some((one) => one.name === '__Host-notes' && one.secure && one.httpOnly));
    await context.close();
  }
}

/** §2: a share link, its QR code, and its visits, which are counted without the visitors' addresses. */
async function share() {
  const { context, page } = await person(0, ada, `/w/p/${given.read}/share`);
  await page.getByRole('button', { name: 'Create the link' }).click();
  const link = page.locator('[data-share] .url a');
  const url = await link.getAttribute('href');
  holds('a link is of the main site, whatever the browser asked for', url.startsWith(`${base}/s/`));
  await page.getByRole('button', { name: 'QR code' }).click();
  const code = page.getByRole('img', { name: `QR code of ${url}` });
  await code.waitFor();
  const read = await codeOf(code);
  holds('a reader of QR codes reads the link', read === url);
  for (const edge of EDGES) {
    const guest = await visitor(edge);
    await guest.page.goto(read);
    await guest.page.getByText('Words of the page that was read.').waitFor();
    await guest.context.close();
    execFileSync(given.outside[edge][0], [...given.outside[edge].slice(1), read]);
  }
  await page.getByRole('button', { name: 'Visits' }).click();
  await page.getByText('4 visits', { exact: true }).waitFor();
  await page.getByText('2 visitors', { exact: true }).waitFor();
  await page.getByText('As a table').click();
  holds('the visits of two visitors at two edges are counted', (await page.getByRole('row').nth(1).innerText()).split('\t').slice(1).join() === '4,2');
  await page.getByRole('button', { name: 'End the link' }).click();
  await page.locator('dialog [data-yes]').click();
  await page.getByText('Nobody can read this page by a link yet.').waitFor();
  for (const edge of EDGES) {
    const guest = await visitor(edge);
    for (const _ of EACH) if ((await guest.page.goto(read)).status() !== 404) throw new Error('an ended link is open');
    await guest.context.close();
  }
  holds('an ended link is of no use at each replica', true);
  await context.close();
}

const middle = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)];

/** §6.1: what one person does at one edge, another one sees at the other, by one stream of events. */
async function live() {
  const reader = await person(1, bob, '/w');
  // What the page before it has begun is not counted: on a busy machine it is still opening its stream.
  await reader.page.goto('about:blank');
  const streams = [];
  reader.page.on('request', (one) => { if (one.url().startsWith(`${base}/api/v1/events`)) streams.push(one); });
  await reader.page.goto(`${base}/w/p/${given.live}`);
  await heading(reader.page, 'Live');
  const writer = await person(0, ada, `/w/p/${given.live}`);
  await reader.page.getByRole('img', { name: 'Also here: Ada' }).waitFor();
  await writer.page.getByRole('img', { name: 'Also here: Bob' }).waitFor();
  holds('who is at the page appears at the other edge', true);
  const text = await edit(writer.page);
  await text.press('Control+End');
  const times = [];
  for (let at = 0; at < 12; at += 1) {
    const begun = Date.now();
    await text.pressSequentially(` <${at}>`);
    await reader.page.locator('.prose', { hasText: `<${at}>` }).waitFor();
    times.push(Date.now() - begun);
  }
  console.log(`milliseconds: ${times}`);
  // Without the stream a browser asks again after 12 seconds.
  holds('each edit appears at once', middle(times) < 2500 && Math.max(...times) < 10_000);
  await ask(writer.page, 'POST', `/spaces/${given.space}/nodes`, { title: 'Made meanwhile' });
  await reader.page.getByRole('treeitem', { name: 'Made meanwhile' }).waitFor();
  holds('a new page appears in the tree', true);
  // Longer than proxies usually wait for an answer that is silent.
  await reader.page.waitForTimeout(given.silence_ms);
  await text.pressSequentially(' late');
  await reader.page.locator('.prose', { hasText: 'late' }).waitFor();
  console.log(`streams: ${streams.length}`);
  const kind = await (await streams[0].response()).headerValue('content-type');
  holds('one stream has brought it all, and stays open', streams.length === 1 && kind.startsWith('text/event-stream'));
  await reader.context.setOffline(true);
  await text.pressSequentially(' unseen');
  await writer.page.locator('[data-saving=saved]').waitFor();
  await reader.context.setOffline(false);
  await reader.page.locator('.prose', { hasText: 'unseen' }).waitFor();
  holds('what happened without a network appears afterwards', true);
  await reader.context.close();
  await writer.context.close();
}

/** §6.2: a space's domain is served by every replica, and has its certificate, within moments. */
async function domain() {
  const site = `https://${given.domain}/p/${given.live}`;
  const guests = await Promise.all(EDGES.map((edge) => visitor(edge)));
  for (const { page } of guests) {
    const refused = await page.goto(site).then(() => '', String);
    if (!refused.includes('ERR_SSL')) throw new Error(`no certificate is for this domain yet: ${refused}`);
  }
  holds('a domain that no space has gets no certificate', true);
  const { context, page } = await person(0, ada, '/w');
  await ask(page, 'PATCH', `/spaces/${given.space}`, { domain: given.domain, site_enabled: true, public: true });
  const begun = Date.now();
  for (const { page: guest } of guests) {
    const open = async () => (await guest.goto(site).catch(() => undefined))?.status() === 200;
    await until(open, () => '', 10_000);
    for (const _ of EACH) if (!await open()) throw new Error('a replica does not serve the domain');
    await guest.getByRole('heading', { name: 'Live' }).first().waitFor();
  }
  console.log(`served everywhere after ${Date.now() - begun} ms`);
  holds('the space is served at its domain by each replica', true);
  await ask(page, 'PATCH', `/spaces/${given.space}`, { site_enabled: false });
  for (const { page: guest } of guests) {
    const isGone = async () => [404, undefined].includes((await guest.goto(site).catch(() => undefined))?.status());
    await until(isGone, () => '', 10_000);
    for (const _ of EACH) if (!await isGone()) throw new Error('a replica serves the domain still');
  }
  holds('and is gone everywhere when it is switched off', true);
  await context.close();
  for (const guest of guests) await guest.context.close();
}

await judge(setup, offline, signOn, share, chunks, live, domain);
