// What a browser shows of comments that others made while it heard of nothing: two people on two replicas. Prints a line
// for each scenario that holds. Arguments: the addresses of two replicas, and users, a token and ids as JSON.
import { ada, api, docOf, edit, first, holds, isKept, judge, newPage, opened, pages, second, signIn, textOf, until } from './workspace_tools.mjs';

const { plan, notes } = pages;
const STREAM = '**/api/v1/events*';
const count = async (page) => Number(/(\d+) open/.exec(await page.locator('button[title^=Comments]').first().getAttribute('title'))?.[1] ?? 0);
const post = (page, body) => api('POST', `/nodes/${page}/comments`, { body });
const shows = (page, wanted) => until(async () => await count(page) === wanted, () => count(page), 20_000);

async function at(base, id) {
  const { context, page } = await newPage({}, 20_000);
  await signIn(page, base, ada);
  return { context, page, open: async (tab) => {
    // The comments are read when the browser has nothing better to do.
    const read = tab.waitForResponse((answer) => answer.url().endsWith('/comments'));
    await tab.goto(`${base}/w/p/${id}`);
    await tab.getByRole('heading', { level: 1 }).waitFor();
    await read;
  } };
}

/** The database is away when a tab asks for its stream; what it shows has been read before. */
async function lateStream() {
  const { context, page, open } = await at(first, plan);
  await context.route(STREAM, (route) => route.fulfill({ status: 503, body: '' }));
  await open(page);
  await post(plan, 'made before the stream began');
  await context.unroute(STREAM);
  holds('a comment that was made before the first stream began is shown', await shows(page, 1));
  await post(plan, 'made after');
  holds('and one that was made after that', await shows(page, 2));
  await context.close();
}

/** The tab that reads the stream for all closes; the other one begins it again. */
async function nextLeader() {
  const { context, page, open } = await at(second, notes);
  const other = await context.newPage();
  await open(page);
  await open(other);
  await context.route(STREAM, (route) => route.fulfill({ status: 503, body: '' }));
  await page.close();
  await post(notes, 'made while nobody heard');
  await context.unroute(STREAM);
  holds('a tab that goes on with the stream shows what was made meanwhile', await shows(other, 1));
  await context.close();
}

/** What a tab has to send again, and cannot, holds up nothing that it shows. */
async function slowRecovery() {
  const { context, page, open } = await at(first, plan);
  await open(page);
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await page.getByRole('textbox', { name: 'Text of the page' }).pressSequentially('words ');
  await until(async () => JSON.stringify(await docOf(plan)).includes('words'));
  await page.locator('[data-saving=saved]').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  const before = await count(page);
  // The server does not answer if it still has the accepted edits.
  let asked = 0;
  await context.route('**/edits?since=*', () => { asked += 1; });
  await context.route(STREAM, (route) => route.abort());
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(async () => asked > 0);
  await shows(page, before);
  await post(plan, 'made while edits are asked about');
  await context.unroute(STREAM);
  holds('edits that are asked about hold up no comment', await shows(page, before + 1));
  holds('they are still asked about', asked > 0);
  await context.close();
}

/** The part of the workspace that sends edits cannot be fetched where a tab starts. */
async function lateEditor() {
  const { context, page, text } = await opened(first, ada, notes, { serviceWorkers: 'block' });
  await context.route('**/edits', (route) => route.abort());
  await text.pressSequentially('left over ');
  await isKept(page, 'left over ');
  let refused = 0;
  await context.route('**/assets/open-*.js', (route) => {
    refused += 1;
    return refused === 1 ? route.fulfill({ status: 404, body: '' }) : route.continue();
  });
  await page.reload();
  await until(async () => refused > 0);
  await context.unroute('**/edits');
  holds('edits are sent though the editor could not be fetched at first', await until(async () => textOf(await docOf(notes)).includes('left over')));
  await context.close();
}

/** Counts how often the lists are read in a time (ms). */
async function listsRead(page, ms) {
  let count = 0;
  const note = (one) => { count += one.url().endsWith('/api/v1/spaces') ? 1 : 0; };
  page.on('request', note);
  await page.waitForTimeout(ms);
  page.off('request', note);
  console.log(`the lists were read ${count} times`);
  return count;
}

/** A tab sends what a closed one has left, while its own edits find no way. */
async function whoseState() {
  const { context, page, text } = await opened(first, ada, plan);
  const other = await context.newPage();
  await other.goto(`${first}/w/p/${plan}`);
  const theirs = await edit(other);
  const clientOf = (route) => route.request().postDataJSON()?.client;
  let left;
  await context.route('**/edits', (route) => { left ??= clientOf(route); return route.abort(); });
  await theirs.pressSequentially('left by a tab ');
  await isKept(other, 'left by a tab ');
  await other.close();
  await context.unroute('**/edits');
  await context.route('**/edits', (route) => (clientOf(route) === left ? route.continue() : route.abort()));
  await text.press('Control+End');
  await text.pressSequentially(' of this tab');
  await page.locator('[data-saving=kept]').waitFor();
  await page.evaluate(() => {
    window.states = [];
    const note = () => window.states.push(document.querySelector('[data-saving]')?.dataset.saving);
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-saving'] });
  });
  const server = async () => textOf(await docOf(plan));
  holds('what a closed tab has left is sent', await until(async () => (await server()).includes('left by a tab'), server, 70_000));
  await page.waitForTimeout(1000);
  const reads = await listsRead(page, 10_000);
  holds('one kind of request that fails has not all read again each time', reads <= 4);
  const states = await page.evaluate(() => window.states);
  holds('meanwhile nothing says that all is saved', !states.includes('saved'));
  await context.unroute('**/edits');
  holds('then its own edits are', await until(async () => (await server()).includes('of this tab'), server));
  await page.locator('[data-saving=saved]').waitFor();
  await context.close();
}

/** The server refuses a page, its comments and the page tree once, because it has too much to do. */
async function busyServer() {
  const { context, page, text } = await opened(first, ada, plan, { serviceWorkers: 'block' });
  await until(async () => await count(page) > 0);
  const before = await count(page);
  const { space_id: space } = await api('GET', `/nodes/${plan}`);
  const asked = {};
  for (const path of [`nodes/${plan}`, `nodes/${plan}/comments`, `spaces/${space}/tree`]) {
    asked[path] = 0;
    await context.route(`**/api/v1/${path}`, (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      asked[path] += 1;
      const isBusy = asked[path] === 1;
      return isBusy ? route.fulfill({ status: 429, contentType: 'application/problem+json', body: '{"detail": "busy"}' }) : route.continue();
    });
  }
  await post(plan, 'made while the server is busy');
  await api('POST', `/spaces/${space}/nodes`, { title: 'Made meanwhile' });
  await api('PATCH', `/spaces/${space}`, { description: 'changed' });
  const counts = () => JSON.stringify(asked);
  holds('each is requested', await until(async () => Object.values(asked).every((times) => times > 0), counts));
  await page.waitForTimeout(1000);
  holds('an editor stays open where the server is busy', await text.isVisible());
  holds('and each is requested again', await until(async () => Object.values(asked).every((times) => times > 1), counts));
  holds('so the comment is shown', await shows(page, before + 1));
  await page.getByRole('treeitem', { name: 'Made meanwhile' }).waitFor();
  holds('and the page in the tree, beside the editor', await text.isVisible());
  await context.close();
}

/** A tab that opens a page remembers its space, and leaves what another one has chosen meanwhile. */
async function choices() {
  const { context, page, open } = await at(first, plan);
  await open(page);
  const other = await context.newPage();
  await other.goto(`${first}/w/settings`);
  await other.getByRole('combobox', { name: 'Language' }).selectOption('de');
  await until(() => other.evaluate(() => document.documentElement.lang === 'de'));
  await page.getByRole('navigation').getByRole('link', { name: 'Notes' }).first().click();
  await page.waitForURL(`**/w/p/${notes}`);
  await page.waitForTimeout(500);
  const chosen = () => page.evaluate(() => JSON.parse(localStorage.getItem('notes-preferences')).language);
  holds('a language that another tab has chosen stays', await chosen() === 'de');
  await context.close();
}

await judge(lateStream, nextLeader, slowRecovery, lateEditor, whoseState, busyServer, choices);
