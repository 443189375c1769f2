// Makes pages without a network, in a browser that is killed, and comes back: to its space, or to none any more.
// Prints a line for each scenario that holds. Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { STARTED } from './chromium.mjs';
import {
  accessible, ada, api, bob, docOf, first, forwarding, hasParts, holds, isKept, judge, newPage, pages, second,
  signIn, textOf, token, until, wrong,
} from './workspace_tools.mjs';

/** An address of a replica that can be shut: then nothing answers there, as without a network. */
async function gate(to) {
  let isShut = false;
  const { server, base, end } = await forwarding(() => to);
  server.on('connection', (socket) => { if (isShut) socket.destroy(); });
  return {
    base,
    end,
    shut: () => { isShut = true; server.closeAllConnections(); },
    open: () => { isShut = false; },
  };
}

/** A browser that keeps its store in a folder, and can be killed with all its processes. */
async function killable(folder) {
  const given = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${folder}`, 'about:blank'];
  const started = spawn(STARTED.executablePath, [...STARTED.args, ...given], { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const address = await new Promise((found, failed) => {
    let said = '';
    started.stderr.on('data', (data) => {
      said += data;
      const one = /DevTools listening on (ws:\S+)/.exec(said);
      if (one) found(one[1]);
    });
    started.on('exit', () => failed(new Error(`the browser ended: ${said.slice(-500)}`)));
  });
  const browser = await chromium.connectOverCDP(address);
  const [context] = browser.contexts();
  context.setDefaultTimeout(40_000);
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height: 800 });
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  const ended = new Promise((done) => { started.on('exit', done); });
  return {
    page,
    /** As a person closes it: cookies are in the folder then; else that takes the browser half a minute. */
    async close() {
      await (await browser.newBrowserCDPSession()).send('Browser.close').catch(() => undefined);
      await ended;
    },
    async kill() {
      try { process.kill(-started.pid, 'SIGKILL'); } catch { /* it has ended */ }
      await ended;
      await browser.close().catch(() => undefined);
    },
  };
}

const space = (await api('GET', `/nodes/${pages.home}`)).space_id;
const tree = (id = space) => api('GET', `/spaces/${id}/tree`);
const titled = async (title, id = space) => (await tree(id)).filter((one) => one.title === title);
const said = async (id) => textOf(await docOf(id).catch(() => ({ text: '' })));
const idOf = (page) => page.url().split('/').at(-1);
const text = (page) => page.getByRole('textbox', { name: /Text of the page|Text der Seite/ });
const row = (page, title) => page.getByRole('treeitem', { name: title, exact: true });
const list = (page) => page.locator('.lost li');

/** Signed in, with everything stored that it needs without a network. */
async function ready(page, base, who) {
  if (who) await signIn(page, base, who);
  await page.goto(`${base}/w/p/${pages.home}`);
  await hasParts(page);
  await row(page, 'Home').waitFor();
  await page.waitForTimeout(1500);
}

/** Makes a page by the keyboard, and types into it. */
async function make(page, title, words) {
  await page.locator('#main').focus();
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByRole('textbox', { name: /^(Title|Titel)$/ }).waitFor();
  await page.keyboard.type(title);
  await page.keyboard.press('Enter');
  await text(page).waitFor();
  await text(page).click();
  await page.keyboard.type(words);
  await page.locator('[data-saving=kept]').waitFor();
  return idOf(page);
}

async function killed() {
  const way = await gate(first);
  const folder = mkdtempSync(join(tmpdir(), 'notes-offline-'));
  let { page, kill, close } = await killable(folder);
  await signIn(page, way.base, ada);
  await close();
  ({ page, kill } = await killable(folder));
  await ready(page, way.base);
  way.shut();
  const made = await make(page, 'Offline', 'first words');
  holds('a page that is made without a network is in the tree', await row(page, 'Offline').count() === 1);
  await page.getByRole('button', { name: 'Done' }).click();
  holds('and can be read', await until(async () => await page.locator('.prose', { hasText: 'first words' }).count() === 1));
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'New page below' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
  await page.keyboard.type('Below');
  await page.keyboard.press('Enter');
  await text(page).click();
  await page.keyboard.type('under it');
  await isKept(page, 'under it');
  const below = idOf(page);
  await kill();
  ({ page, kill } = await killable(folder));
  await page.goto(`${way.base}/w/p/${made}`);
  holds('the text is there after the browser was killed', await until(async () => await page.locator('.prose', { hasText: 'first words' }).count() === 1));
  // The browser may have lost which rows were open.
  await row(page, 'Offline').focus();
  if (await row(page, 'Below').count() === 0) await page.keyboard.press('ArrowRight');
  holds('so are the page and the one below it in the tree', await until(async () => await row(page, 'Below').count() === 1));
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await text(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' and more');
  await page.waitForTimeout(600);
  await page.reload();
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  holds('it is written on after a reload', await until(async () => (await text(page).innerText()).includes('first words and more')));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('under it');
  holds('it is found without a network', await until(async () => await page.getByRole('option', { name: /Below/ }).count() === 1));
  await page.keyboard.press('Escape');
  await page.goto(`${way.base}/w/p/${made}`);
  await row(page, 'Offline').waitFor();
  holds('the server has heard nothing', (await titled('Offline')).length === 0);
  way.open();
  holds('both pages are made when the network is back, at their addresses and places', await until(async () => {
    const all = await tree();
    return all.some((one) => one.id === made && one.title === 'Offline')
      && all.some((one) => one.id === below && one.parent_id === made);
  }, tree, 60_000));
  holds('with what was written there', await until(async () => await said(made) === 'first words and more'
    && await said(below) === 'under it', async () => `${await said(made)} ${await said(below)}`, 60_000));
  holds('once each', (await titled('Offline')).length === 1 && (await titled('Below')).length === 1);
  await page.goto(`${way.base}/w/p/${made}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await text(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('!');
  holds('then it is a page as any other', await until(async () => await said(made) === 'first words and more!', () => said(made)));
  await kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  way.end();
}

/** The page that was made while the answer got lost, and the one that is made at once by two requests. */
async function answers() {
  const { context, page } = await newPage();
  await ready(page, first, ada);
  let lost = 0;
  await context.route('**/api/v1/spaces/*/nodes', async (route) => {
    if (route.request().method() !== 'POST' || lost) return route.continue();
    lost += 1;
    await route.fetch();
    return route.abort();
  });
  await page.locator('#main').focus();
  await page.keyboard.press('n');
  await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).waitFor();
  await page.keyboard.type('Unheard');
  await page.keyboard.press('Enter');
  await text(page).click();
  await page.keyboard.type('words');
  const id = idOf(page);
  holds('a page whose answer got lost is made once', await until(async () => await said(id) === 'words', () => said(id), 60_000)
    && lost === 1 && (await titled('Unheard')).length === 1);
  await context.close();
}

/** Bob loses the space while he is offline. */
async function refused() {
  const { context, page } = await newPage();
  await ready(page, second, bob);
  const me = await page.evaluate(async () => (await (await fetch('/api/v1/me')).json()).id);
  const own = await page.evaluate(async () => {
    const body = JSON.stringify({ slug: 'own', name: 'Own' });
    return (await (await fetch('/api/v1/spaces', { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()).id;
  });
  await page.reload();
  await row(page, 'Home').waitFor();
  await context.setOffline(true);
  const one = await make(page, 'Homeless', 'written in vain?');
  await page.getByRole('button', { name: 'Done' }).click();
  const two = await make(page, 'Waste', 'not needed');
  await page.getByRole('button', { name: 'Done' }).click();
  const gone = await fetch(`${first}/api/v1/spaces/${space}/members/${me}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  if (!gone.ok) throw new Error(`not removed: ${gone.status}`);
  await context.setOffline(false);
  await until(async () => await list(page).count() === 2, () => page.locator('body').innerText());
  const words = await page.locator('.lost').innerText();
  holds('a page whose space is lost is listed with its text', words.includes('Homeless') && words.includes('written in vain?')
    && words.includes('Your new page'));
  await page.goto(`${second}/w`);
  await list(page).first().waitFor();
  await accessible(page, 'a page that could not be made, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'a page that could not be made, dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 320, height: 640 });
  const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth
    || [...document.querySelectorAll('.lost')].some((box) => box.scrollWidth > box.clientWidth));
  holds('it fits on a phone', !isWide);
  await accessible(page, 'a page that could not be made, on a phone');
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${second}/w/p/${one}`);
  holds('it can still be read', await until(async () => await page.locator('.prose', { hasText: 'written in vain?' }).count() === 1));
  const it = list(page).filter({ hasText: 'Homeless' });
  await it.getByRole('combobox', { name: 'Space for the page' }).selectOption(own);
  await it.getByRole('button', { name: 'Make it there' }).focus();
  await page.keyboard.press('Enter');
  const read = () => page.evaluate(async (id) => (await fetch(`/api/v1/nodes/${id}/live`)).text(), one);
  holds('it is made in another space, with its text', await until(async () => (await read()).includes('written in vain?'), read)
    && await page.evaluate(async (id) => (await (await fetch(`/api/v1/nodes/${id}`)).json()).space_id, one) === own);
  const other = list(page).filter({ hasText: 'Waste' });
  await other.getByRole('button', { name: 'Give it up' }).click();
  await page.locator('[data-yes]').click();
  holds('or given up', await until(async () => await list(page).count() === 0));
  await page.reload();
  await page.goto(`${second}/w/p/${two}`);
  holds('and is gone then', await until(async () => await page.getByText('not needed').count() === 0
    && await list(page).count() === 0 && await page.locator('#main h1').count() === 1));
  await context.close();
}

/** The next person at the browser sees nothing of it; its own person gets it back. */
async function people() {
  const { context, page } = await newPage({ locale: 'de-DE' });
  await ready(page, first, ada);
  await context.setOffline(true);
  const made = await make(page, 'Geheim', 'nur meins');
  holds('the words are German', await page.getByText('Die Seite ist auf diesem Gerät gespeichert.').count() === 1);
  await page.goto('about:blank');
  await context.clearCookies();
  await context.setOffline(false);
  const root = await page.context().newPage();
  await signIn(root, first, bob);
  await root.goto(`${first}/w`);
  await root.locator('#sidebar').waitFor();
  await root.waitForTimeout(2500);
  holds('another person sees nothing of it', await root.getByText('Geheim').count() === 0
    && (await titled('Geheim')).length === 0);
  await root.goto(`${first}/w/p/${made}`);
  await root.locator('#main h1').waitFor();
  holds('also not at its address', await root.getByText('nur meins').count() === 0);
  // What the workspace asks for when that person signs out and deletes what is stored for them.
  const left = await root.evaluate(() => fetch('/api/v1/session?keep_others=true', { method: 'DELETE' }).then((one) => one.status));
  holds('that person signs out, and deletes what is theirs', left === 204);
  await signIn(root, first, bob);
  await root.goto(`${first}/`);
  await root.getByRole('button', { name: 'Bob' }).click();
  await root.waitForURL('**/login');
  const cookies = (await context.cookies()).map(({ name }) => name);
  holds('on the plain page, too, without a question', cookies.includes('notes-left') && cookies.includes('notes-unsent'));
  await root.goto('about:blank');
  await signIn(page, first, ada);
  await page.goto(`${first}/w`);
  holds('its person sends it with the next sign-in', await until(async () => await said(made) === 'nur meins', () => said(made), 60_000)
    && (await titled('Geheim')).length === 1);
  holds('and the workspace has deleted what that one left', !(await context.cookies()).some(({ name }) => name === 'notes-left'));
  await context.close();
}

/** Without a network: a template that is stored, one that is not, and shared text. */
async function sources() {
  const { context, page } = await newPage();
  await ready(page, first, ada);
  await page.goto(`${first}/w/p/${pages.model}`);
  await page.locator('.prose', { hasText: 'agenda' }).waitFor();
  await page.waitForTimeout(1500);
  await context.setOffline(true);
  await page.locator('#main').focus();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Copied');
  await dialog.getByRole('combobox', { name: 'Begin with' }).selectOption(pages.model);
  await page.keyboard.press('Tab');
  await dialog.getByRole('button', { name: 'Create' }).click();
  holds('a copy of a stored page begins with its text', await until(async () => await page.locator('#title', { hasText: 'Copied' }).count() === 1
    && await page.locator('.prose', { hasText: 'agenda' }).count() === 1));
  const copied = idOf(page);
  await page.goto(`${first}/w?title=Shared&text=${encodeURIComponent('# Plan\n\n<img src=x onerror=alert(1)>')}`);
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.locator('.prose', { hasText: 'Plan' }).waitFor();
  const shared = idOf(page);
  holds('shared text is read as Markdown, and runs nothing', await page.locator('.prose h2', { hasText: 'Plan' }).count() === 1
    && await page.locator('.prose img[src=x]').count() === 0);
  await context.setOffline(false);
  holds('both are made', await until(async () => await said(copied) === 'agenda' && (await said(shared)).startsWith('Plan'),
    async () => `${await said(copied)} ${await said(shared)}`, 60_000));
  await context.close();
}

/** Favourites without a network: the last word of each page counts, once. */
async function favourites() {
  const { context, page } = await newPage();
  await ready(page, first, ada);
  const listed = () => page.evaluate(async () => (await (await fetch('/api/v1/favourites')).json()).map((one) => one.title).sort().join());
  const star = page.locator('.sidebar .favourites');
  await page.goto(`${first}/w/p/${pages.model}`);
  await page.locator('.prose', { hasText: 'agenda' }).waitFor();
  await page.locator('#main').focus();
  await page.keyboard.press('f');
  await star.getByRole('link', { name: 'Model' }).waitFor();
  await page.goto(`${first}/w/p/${pages.home}`);
  await page.locator('.prose', { hasText: 'words' }).waitFor();
  await page.waitForTimeout(1500);
  await context.setOffline(true);
  await page.locator('#main').focus();
  await page.keyboard.press('f');
  await star.getByRole('link', { name: 'Home' }).waitFor();
  await page.goto(`${first}/w/p/${pages.model}`);
  await page.locator('.prose', { hasText: 'agenda' }).waitFor();
  await page.locator('#main').focus();
  await page.keyboard.press('f');
  holds('a favourite is removed and another added without a network', await until(async () => await star.getByRole('link').allInnerTexts().then((all) => all.join()) === 'Home'));
  const made = await make(page, 'Starred', 'words');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Add to favourites' }).click();
  await star.getByRole('link', { name: 'Starred' }).waitFor();
  await page.goto(`${first}/w/p/${pages.home}`);
  await page.getByRole('button', { name: 'Remove from favourites' }).waitFor();
  holds('it stays so after a reload', await until(async () => await star.getByRole('link').allInnerTexts().then((all) => all.join()) === 'Home,Starred'));
  await context.setOffline(false);
  holds('the server learns it with the return of the network', await until(async () => await listed() === 'Home,Starred', listed, 60_000));
  await page.locator('#main').focus();
  await page.keyboard.press('f');
  await until(async () => await listed() === 'Starred', listed);
  await page.reload();
  await page.waitForTimeout(3000);
  holds('and is not told it again', await listed() === 'Starred' && await said(made) === 'words');
  await context.close();
}

await judge(killed, answers, refused, people, sources, favourites);
