// Two people at one page on two replicas: edits and people appear without a reload. Prints a line for each
// scenario that holds. The bench judges the times (together_figures.mjs).
// Arguments: the addresses of two replicas, and users, ids and the number of edits as JSON.
import { apiOf, holds, judge, newPage, signIn } from './chromium.mjs';

const [first, second, given] = process.argv.slice(2);
const { ada, bob, page: pageId, space, edits } = JSON.parse(given);

async function opened(base, who) {
  const { context, page } = await newPage();
  await signIn(page, base, who);
  await page.goto(`${base}/w/p/${pageId}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

const api = apiOf(first, ada.token);

let n = 0;
let place;

/** Types a text at the start of the page as an editor elsewhere would, at the first replica. */
async function type(text, title) {
  n += 1;
  const step = { stepType: 'replace', from: 1, to: 1, slice: { content: [{ type: 'text', text }] } };
  place ??= await api('GET', `/nodes/${pageId}/live`);
  place = await api('POST', `/nodes/${pageId}/edits`, {
    client: '00000000-0000-4000-8000-000000000001', n, base_seq: place.seq, base_id: place.id,
    steps: [step], ...(title ? { title } : {}),
  });
  return Date.now();
}

const shows = (page, text) => page.locator('.prose', { hasText: text }).first().waitFor();
const at = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];

async function editsAppear() {
  const { context, page } = await opened(second, bob);
  await type('before ');
  await shows(page, 'before');
  holds('the first edit appears without a reload', true);
  await page.evaluate((most) => {
    globalThis.seen = {};
    const look = () => {
      const text = document.querySelector('.prose')?.textContent ?? '';
      for (let i = 0; i < most; i += 1) if (!globalThis.seen[i] && text.includes(`<${i}>`)) globalThis.seen[i] = Date.now();
    };
    new MutationObserver(look).observe(document.getElementById('main'), { subtree: true, childList: true, characterData: true });
  }, edits);
  const accepted = [];
  for (let i = 0; i < edits; i += 1) {
    accepted.push(await type(`<${i}> `));
    await new Promise((done) => { setTimeout(done, 100); });
  }
  await shows(page, `<${edits - 1}>`);
  const seen = await page.evaluate(() => globalThis.seen);
  const times = accepted.map((moment, i) => Math.max(0, seen[i] - moment));
  holds('every edit appears', times.every((ms) => Number.isFinite(ms)));
  // Without word of edits it would be seen with the next report, after 12 seconds, or with the version.
  holds('edits appear by the stream', at(times, 0.5) < 2500);
  await type('x', 'Renamed');
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor();
  holds('the title follows', true);
  await context.setOffline(true);
  await type('meanwhile ');
  await page.waitForTimeout(500);
  holds('offline the page stays', await page.locator('.prose', { hasText: 'before' }).count() > 0);
  await context.setOffline(false);
  await shows(page, 'meanwhile');
  holds('edits made meanwhile appear after a lost network', true);
  await type('fresh ');
  await page.reload();
  await shows(page, 'fresh');
  holds('a page that is opened shows edits that are not saved yet', true);
  await context.close();
}

async function peopleAppear() {
  const { context, page } = await opened(second, bob);
  const her = await opened(first, ada);
  const she = page.getByRole('img', { name: 'Also here: Ada' });
  await she.waitFor();
  await her.page.getByRole('img', { name: 'Also here: Bob' }).waitFor();
  await her.page.getByRole('status').filter({ hasText: 'Also here: Bob' }).waitFor();
  holds('both see each other', true);
  await her.page.evaluate(() => history.back());
  await she.waitFor({ state: 'detached', timeout: 20_000 });
  holds('who leaves the page goes', true);
  await her.page.goto(`${first}/w/p/${pageId}`);
  await she.waitFor();
  const session = await her.context.newCDPSession(her.page);
  session.send('Page.crash').catch(() => undefined);
  await she.waitFor({ state: 'detached', timeout: 60_000 });
  holds('a tab that dies goes', true);
  await context.close();
  await her.context.close();
}

/** What others make while the stream of events is still being opened is no less there. */
async function slowStream() {
  const { context, page } = await newPage();
  await signIn(page, second, bob);
  let open;
  const opening = new Promise((done) => { open = done; });
  await context.route('**/api/v1/events*', (route) => opening.then(() => route.continue()));
  const read = page.waitForResponse('**/comments');
  await page.goto(`${second}/w/p/${pageId}`);
  await read;
  await api('POST', `/nodes/${pageId}/comments`, { body: 'made meanwhile' });
  await api('POST', `/spaces/${space}/nodes`, { title: 'Made meanwhile' });
  await page.waitForTimeout(500);
  open();
  await page.locator('button[title="Comments: 1 open"]').waitFor();
  await page.getByRole('treeitem', { name: 'Made meanwhile' }).waitFor();
  holds('what was made while the stream was opened appears', true);
  await context.close();
}

async function rightsAreLost() {
  const { context, page } = await opened(second, bob);
  await type('last ');
  await shows(page, 'last');
  await api('PUT', `/nodes/${pageId}/permissions`, { grants: [{ principal: ada.id, kind: 'user', role: 'manager' }] });
  await type('secret ');
  await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor({ state: 'detached' });
  await page.waitForTimeout(1500);
  holds('who lost the page sees no later edit', !(await page.content()).includes('secret'));
  await context.close();
}

await judge(editsAppear, peopleAppear, slowStream, rightsAreLost);
