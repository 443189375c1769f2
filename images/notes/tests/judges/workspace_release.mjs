// A browser with one release's workspace gets the next one: no word is lost, no open tab is broken. Prints a line for
// each scenario that holds. Arguments: the addresses of a replica of each release, and users, a token, pages as JSON.
import {
  ada, api, docOf, edit, first, forwarding, hasParts, heading, holds, isSaved, judge, newPage, pages, second, signIn, textOf, until,
} from './workspace_tools.mjs';

const OLD = [first];
const NEW = [second];
const BOTH = [first, second];

/** One address of a site, whose replicas take the requests in turn: what is behind it is exchanged in a release. */
async function site() {
  let [count, replicas] = [0, OLD];
  const here = await forwarding(() => replicas[(count += 1) % replicas.length], { 'x-forwarded-proto': 'http' });
  /** Exchanges the replicas: the connections to those before end. */
  here.release = (next) => {
    replicas = next;
    here.server.closeAllConnections();
  };
  return here;
}

/** The name of the script with which a tab began. */
const script = (page) => page.evaluate(() => document.querySelector('script[type=module]').src);
/** The browser looks for a new release, as it does each hour. */
const look = (page) => page.evaluate(() => navigator.serviceWorker.getRegistration('/w').then((one) => one.update().then(() => undefined)));
const updateBar = (page) => page.getByRole('status').filter({ hasText: 'version' });
const take = (page) => updateBar(page).getByRole('button').click();

/** Notes the paths of all requests that the service worker hears of from now on: it reads the address of each. */
async function watchWorker(context) {
  const [worker] = context.serviceWorkers();
  await worker.evaluate(() => {
    self.asked = [];
    const Before = URL;
    self.URL = class extends Before {
      constructor(address) { super(address); self.asked.push(this.pathname); }
    };
  });
  return () => worker.evaluate(() => self.asked);
}

/** A tab at a page whose browser has stored all of the release, and that the service worker serves. */
async function stored(base, id) {
  const { context, page } = await newPage();
  await signIn(page, base, ada);
  await page.goto(`${base}/w/p/${id}`);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await until(() => hasParts(page));
  await page.reload();
  await heading(page, '');
  return { context, page };
}

/** Waits until a tab has begun with another script than before; what it shows is complete then. */
const begunAnew = (page, before) => until(async () => (await script(page).catch(() => before)) !== before, () => script(page));

async function takenOver() {
  const here = await site();
  const { context, page } = await stored(here.base, pages.plan);
  const before = await script(page);
  const asked = await watchWorker(context);
  const other = await context.newPage();
  await other.goto(`${here.base}/w/p/${pages.notes}`);
  const otherText = await edit(other);
  const text = await edit(page);
  const requests = await asked();
  // One that starts the worker again while it ends keeps the old release for minutes (Chromium).
  holds('the worker is left out of the requests to the server', requests.some((path) => path.startsWith('/assets/'))
    && !requests.some((path) => path.startsWith('/api/')));
  here.release(NEW);
  const gone = await fetch(before.replace(here.base, second));
  holds('the new release does not serve the scripts of the old one', gone.status === 404);
  await look(page);
  await updateBar(page).waitFor();
  holds('a new release is offered, and nothing changes by itself', await script(page) === before);
  const account = await context.newPage();
  await account.goto(`${here.base}/w/account`);
  await account.getByRole('heading', { name: 'Account' }).first().waitFor();
  holds('a screen that no tab has opened yet comes from the stored release', await script(account) === before);
  // The server does not get what is typed now: the browser alone has it when the release is taken over.
  await context.route('**/edits', (route) => route.abort());
  await text.press('Control+End');
  await text.pressSequentially(' of plan', { delay: 20 });
  await otherText.press('Control+End');
  await otherText.pressSequentially(' of notes', { delay: 20 });
  await take(page);
  holds('the tab begins again with the new release', await begunAnew(page, before));
  holds('so do the others', await begunAnew(other, before) && await begunAnew(account, before));
  const after = await script(page);
  holds('all with the same', await script(other) === after && await script(account) === after);
  await context.unroute('**/edits');
  holds('they are sent', await until(async () => textOf(await docOf(pages.plan)) === 'start of plan', async () => textOf(await docOf(pages.plan))));
  holds('those of the other tab, too', await until(async () => textOf(await docOf(pages.notes)) === 'start of notes', async () => textOf(await docOf(pages.notes))));
  // A copy of the page is stored once its edits are saved as a version.
  await until(async () => (await api('GET', `/nodes/${pages.plan}`)).version > 1);
  await page.reload();
  await page.locator('.prose', { hasText: 'start of plan' }).waitFor();
  await page.waitForTimeout(2000);
  await context.setOffline(true);
  await page.reload();
  await heading(page, 'Plan');
  holds('offline the page is there right after', await script(page) === after
    && await until(async () => (await page.locator('.prose').textContent()) === 'start of plan', () => page.locator('main').textContent()));
  const again = await edit(page);
  await again.press('Control+End');
  await again.pressSequentially(', offline');
  holds('its editor opens offline', await again.textContent() === 'start of plan, offline');
  await context.setOffline(false);
  await isSaved(page);
  holds('what was written offline is sent once', await until(async () => textOf(await docOf(pages.plan)) === 'start of plan, offline'));
  const caches = await page.evaluate(() => caches.keys());
  holds('the old release is no longer stored', caches.filter((name) => name.startsWith('notes-shell-')).length === 1);
  await context.close();
  here.end();
}

/** A tab of a first visit is not served by the worker that it has registered itself, until that claims it. */
async function firstVisit() {
  const here = await site();
  const { context, page } = await newPage();
  await signIn(page, here.base, ada);
  await page.goto(`${here.base}/w/p/${pages.first}`);
  await heading(page, 'First');
  await until(() => hasParts(page));
  const before = await script(page);
  here.release(NEW);
  await look(page);
  await updateBar(page).waitFor();
  holds('a tab of the first visit is offered the new release', true);
  await take(page);
  holds('and begins again with it', await begunAnew(page, before));
  const text = await edit(page);
  await text.press('Control+End');
  await text.pressSequentially(' edited');
  await isSaved(page);
  holds('its editor opens', textOf(await docOf(pages.first)) === 'start edited');
  await context.close();
  here.end();
}

/** While both releases run, each request may go to the other one. */
async function rollingUpdate() {
  const here = await site();
  const { context, page } = await stored(here.base, pages.plan);
  here.release(BOTH);
  for (let time = 0; time < 4; time += 1) {
    await page.reload();
    await heading(page, 'Plan');
  }
  holds('a stored release is whole while both run', true);
  await look(page).catch(() => undefined);
  await page.goto(`${here.base}/w/account`);
  await page.getByRole('heading', { name: 'Account' }).first().waitFor();
  holds('so are its screens', true);
  here.release(NEW);
  const before = await script(page);
  // What was begun while both ran may fail, after some seconds: then the browser looks again.
  await until(async () => { await look(page).catch(() => undefined); return updateBar(page).isVisible(); }, () => '', 60_000);
  await take(page);
  holds('the new release is taken over afterwards', await begunAnew(page, before));
  await context.close();
  here.end();
}

/** A browser without service workers has no stored scripts: the release before is gone for an open tab. */
async function withoutWorker() {
  const here = await site();
  const { context, page } = await newPage({ serviceWorkers: 'block' });
  await signIn(page, here.base, ada);
  await page.goto(`${here.base}/w/p/${pages.bare}`);
  await heading(page, 'Bare');
  const before = await script(page);
  here.release(NEW);
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await updateBar(page).waitFor();
  holds('without a service worker the new release is offered when a script is gone', await script(page) === before);
  await take(page);
  holds('the tab begins again with it', await begunAnew(page, before));
  const text = await edit(page);
  await text.press('Control+End');
  await text.pressSequentially(' edited');
  await isSaved(page);
  holds('and its editor opens', textOf(await docOf(pages.bare)) === 'start edited');
  await context.close();
  here.end();
}

await judge(takenOver, firstVisit, rollingUpdate, withoutWorker);
