// What the workspace does with pictures that are too large to be kept for reading offline, and with those whose file
// is deleted. Prints a line for each scenario that holds. Arguments: the addresses of two replicas, and users, a token
// and ids as JSON.
import { accessible, ada, api, first, holds, judge, newPage, pages, signIn, token, until } from './workspace_tools.mjs';

const { album } = pages;
/** More than is kept of one picture. */
const BYTES = 12_000_000;

/** Stores a file of a page that says that it is a picture. */
async function stored(bytes) {
  const form = new FormData();
  form.append('file', new Blob([bytes], { type: 'image/png' }), 'large.png');
  const answer = await fetch(`${first}/api/v1/nodes/${album}/uploads`, { method: 'POST', body: form, headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()).id;
}

let version = 1;
async function save(markdown) {
  ({ version } = await api('PUT', `/nodes/${album}`, { base_version: version, markdown }));
}

async function large() {
  const id = await stored(new Uint8Array(BYTES).fill(7));
  await save(`![large](/api/v1/attachments/${id})\n`);
  const { context, page } = await newPage({}, 30_000);
  let asked = 0;
  const open = new Set();
  const isOfIt = (one) => one.resourceType() === 'fetch' && one.url().endsWith(id);
  page.on('request', (one) => { if (isOfIt(one)) { asked += 1; open.add(one); } });
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (one) => open.delete(one));
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${album}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(async () => asked > 0);
  holds('the answer with a picture that is not kept is ended', await until(async () => !open.size, () => asked, 10_000));
  for (const words of ['one', 'two']) {
    await save(`![large](/api/v1/attachments/${id})\n\n${words}\n`);
    await page.locator('.prose', { hasText: words }).waitFor();
  }
  await page.waitForTimeout(1500);
  holds('it is fetched once', asked === 1);
  await context.close();
}

/** The settings say what of a space could not be kept: a page that the server does not give, and a picture that is too large. */
async function told() {
  const { space_id: home } = await api('GET', `/nodes/${album}`);
  const { id: unread } = await api('POST', `/spaces/${home}/nodes`, { title: 'Not to be read', markdown: 'words\n' });
  const { context, page } = await newPage({ bypassCSP: true }, 30_000);
  await page.route(`**/api/v1/nodes/${unread}`, (route) => route.fulfill({ status: 500, body: '{}' }));
  await signIn(page, first, ada);
  await page.goto(`${first}/w/settings`);
  const box = page.getByRole('checkbox', { name: /^Keep all pages of/ }).first();
  await box.check();
  const said = () => box.evaluate((one) => document.getElementById(one.getAttribute('aria-describedby')).innerText);
  holds('the settings say that a picture is too large to be kept', await until(async () => (await said()).includes('1 picture could not be kept'), said));
  holds('and that a page was not to be read', (await said()).includes('1 page could not be kept'));
  await accessible(page, 'what is not kept of a space');
  await page.unroute(`**/api/v1/nodes/${unread}`);
  await page.reload();
  holds('the page is kept after the next start, and no more told of', await until(async () => !(await said()).includes('page could'), said));
  await context.close();
}

/** A picture of one red dot. */
const DOT = Uint8Array.from(atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='), (one) => one.charCodeAt(0));

const copies = (page) => page.evaluate(() => new Promise((done) => {
  indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
    db.transaction('pictures').objectStore('pictures').count().onsuccess = ({ target }) => { db.close(); done(target.result); };
  };
}));

async function deleted() {
  const id = await stored(DOT);
  await save(`![dot](/api/v1/attachments/${id})\n`);
  const { context, page } = await newPage({}, 30_000);
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${album}`);
  await until(async () => await copies(page) === 1);
  const picture = page.locator('.prose img');
  const isCopy = async () => (await picture.getAttribute('src')).startsWith('blob:');
  const path = '**/api/v1/attachments/*';
  await page.route(path, (route) => route.fulfill({ status: 503 }));
  await page.reload();
  await picture.waitFor();
  holds('while the server has no database, the stored copy is shown', await until(isCopy));
  await page.unroute(path);
  await fetch(`${first}/api/v1/attachments/${id}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  const answered = page.waitForResponse((one) => one.url().endsWith(id) && one.status() === 404);
  await page.reload();
  await answered;
  holds('the copy of a file that was deleted is deleted', await until(async () => await copies(page) === 0));
  holds('and is not shown', !await isCopy());
  await context.close();
}

await judge(large, told, deleted);
