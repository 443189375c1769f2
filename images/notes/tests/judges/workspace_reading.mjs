// Reads pages and makes new ones in Chromium, and prints a line for each scenario that holds.
// Arguments: the address of a replica; people, a token and ids as JSON.
import { accessible, apiOf, hasStore, holds, judge, newPage, signIn } from './chromium.mjs';

const [base, given] = process.argv.slice(2);
const { ada, bob, token, ...ids } = JSON.parse(given);
const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, forced: { forcedColors: 'active' }, phone: { viewport: { width: 320, height: 640 } } };

async function opened(who, id, more = {}) {
  const { context, page } = await newPage({ bypassCSP: false, ...more }, 30_000);
  await signIn(page, base, who);
  if (id) {
    await page.goto(`${base}/w/p/${id}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  return { context, page };
}

const api = apiOf(base, token);

async function until(look, ms = 20_000) {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    if (await look()) return true;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  return false;
}

/** The words of the page in a colour of code. */
const coloured = (page, kind) => page.evaluate((name) => [...(CSS.highlights.get(`code-${name}`) ?? [])].map(String), kind);

async function code() {
  const { context, page } = await opened(ada, ids.code);
  await until(async () => (await coloured(page, 'keyword')).length > 0);
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/code.png` });
  holds('keywords are coloured', (await coloured(page, 'keyword')).join() === 'def,return');
  holds('strings are coloured', (await coloured(page, 'string')).join() === '"two # words"');
  holds('comments are coloured', (await coloured(page, 'comment')).join() === '# why');
  holds('code of no language is not', !(await coloured(page, 'number')).includes('7'));
  await page.keyboard.press('e');
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.locator('pre').first().click();
  await page.keyboard.press('Control+End');
  await text.locator('pre code').first().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' # typed');
  holds('what is typed into code is coloured', await until(async () => (await coloured(page, 'comment')).includes('# typed')
    || (await coloured(page, 'comment')).some((one) => one.endsWith('# typed'))));
  await context.close();
}

async function pictures() {
  for (const [name, look] of Object.entries(LOOKS)) {
    const { context, page } = await opened(ada, ids.media, { ...look, bypassCSP: true });
    const picture = page.getByRole('button', { name: 'Enlarge the picture: a chart' });
    await picture.waitFor();
    await accessible(page, `a page with files, ${name}`);
    await picture.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'a chart' }).waitFor();
    await accessible(page, `a larger picture, ${name}`);
    if (name === 'light') {
      const width = () => page.locator('.zoom-place img').evaluate((img) => img.clientWidth);
      const before = await width();
      const box = await page.locator('.zoom-place img').boundingBox();
      holds('a picture fits into the window', box.height > 300 && box.y >= 0 && box.y + box.height <= 800 && box.x + box.width <= 1280);
      await page.getByRole('button', { name: 'Actual size' }).click();
      holds('a picture is shown in its own size', await width() > before);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    holds(`the focus returns to the picture, ${name}`, await picture.evaluate((one) => one === document.activeElement));
    if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/reading-${name}.png`, fullPage: true });
    await context.close();
  }
}

/** Films, sound and a PDF play and open in their place: in the workspace, on the plain page, in a shared page. */
async function files() {
  for (const [name, path] of [['the workspace', `/w/p/${ids.media}`], ['the plain page', `/p/${ids.media}`], ['a shared page', ids.share]]) {
    const { context, page } = await opened(ada);
    const asked = [];
    page.on('response', (answer) => asked.push(answer));
    await page.goto(base + path);
    for (const tag of ['video', 'audio']) {
      const media = page.locator(`figure.file ${tag}`);
      await media.waitFor();
      const isPlaying = () => media.evaluate(async (one) => { one.muted = true; await one.play().catch(() => undefined); return one.readyState > 1; });
      holds(`${tag} plays in ${name}`, await until(isPlaying));
    }
    const isPdf = (answer) => answer.url().endsWith(ids.pdf) || answer.headers()['content-type'] === 'application/pdf';
    holds(`no PDF is read before it is wanted in ${name}`, !asked.some(isPdf));
    await page.locator('figure.file summary').click();
    holds(`a PDF is read in its place in ${name}`, await until(async () => asked.some((answer) => isPdf(answer) && answer.status() === 200)));
    const frame = page.frames().find((one) => one.url().includes('attachments'));
    holds(`a PDF is shown in its place in ${name}`, await until(async () => (page.frames().find((one) => one.url().includes('attachments')) ?? frame) !== undefined));
    await context.close();
  }
}

/** The version of the page that this browser has noted as read. */
const readVersion = async (page) => !await hasStore(page) ? 0 : page.evaluate((name) => new Promise((done) => {
  const opening = indexedDB.open('notes');
  opening.onsuccess = () => {
    const asked = opening.result.transaction('values').objectStore('values').get(name);
    asked.onsuccess = () => { opening.result.close(); done(asked.result?.value ?? 0); };
  };
}), `read ${ids.plan}`);

async function since() {
  const { context, page } = await opened(bob, ids.plan);
  holds('a page counts as read after a while', await until(async () => await readVersion(page) === 1));
  await page.goto(`${base}/w`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const { version } = await api('GET', `/nodes/${ids.plan}`);
  await api('PUT', `/nodes/${ids.plan}`, { base_version: version, markdown: 'First.\n\nSecond, by Ada.\n\nThird.\n' });
  await page.goto(`${base}/w/p/${ids.plan}`);
  const link = page.getByRole('link', { name: /^Changed by .* since you last read it$/ });
  await link.waitFor();
  holds('the reader sees who changed the page', /Ada|Admin/.test(await link.innerText()));
  const marked = await page.locator('.prose [data-new]').allInnerTexts();
  holds('what is new is marked, and nothing else', marked.join() === 'Second, by Ada.');
  await accessible(page, 'a page that was changed');
  await link.click();
  await page.getByRole('heading', { level: 1, name: /^Version/ }).waitFor();
  holds('it leads to the difference', await until(async () => await page.locator('ins, del').count() > 0));
  await page.goto(`${base}/w/p/${ids.plan}`);
  await until(async () => await readVersion(page) === version + 1);
  await page.reload();
  await page.locator('.prose').waitFor();
  await page.waitForTimeout(3000);
  holds('it stands there once', await link.count() === 0);
  await context.close();
}

async function newPages() {
  const { context, page } = await opened(ada, ids.plan);
  await page.keyboard.press('n');
  await page.getByLabel('Title').fill('Minutes');
  await page.keyboard.press('Enter');
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.waitFor();
  holds('a new page opens in the editor of the workspace', new URL(page.url()).pathname.startsWith('/w/p/'));
  await page.keyboard.type('At once.');
  await page.locator('[data-saving=saved]').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.locator('.prose', { hasText: 'At once.' }).waitFor();
  holds('one can write at once', true);
  await page.keyboard.press('n');
  await page.getByLabel('Title').fill('Form of minutes');
  await page.getByLabel('Begin with').selectOption({ label: 'A copy of “Minutes”' });
  await page.getByLabel('Keep it as a template').check();
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { level: 1, name: 'Form of minutes' }).waitFor();
  holds('a template is made of a page', await until(async () => await page.locator('.prose', { hasText: 'At once.' }).count() === 1));
  await page.getByRole('treeitem', { name: 'Form of minutes, Template' }).waitFor();
  await page.keyboard.press('n');
  await page.getByLabel('Title').fill('Minutes of May');
  await page.getByLabel('Begin with').selectOption({ label: 'Template “Form of minutes”' });
  await accessible(page, 'a new page from a template');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { level: 1, name: 'Minutes of May' }).waitFor();
  await page.locator('.prose', { hasText: 'At once.' }).waitFor();
  holds('a page begins with a template', !(await api('GET', `/nodes/${page.url().split('/').at(-1)}`)).is_template);
  await page.goto(`${base}/w?title=Found&text=${encodeURIComponent('Worth **reading**')}&url=${encodeURIComponent('https://a.example/x')}`);
  const shared = page.getByRole('textbox', { name: 'Text', exact: true });
  await shared.waitFor();
  holds('what another application shares is in the dialog', await shared.inputValue() === 'Worth **reading**\n\nhttps://a.example/x');
  await accessible(page, 'a shared text');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { level: 1, name: 'Found' }).waitFor();
  holds('and becomes a page', await until(async () => await page.locator('.prose strong', { hasText: 'reading' }).count() === 1
    && await page.locator('.prose a[href="https://a.example/x"]').count() === 1));
  await page.goto(`${base}/w?new=page`);
  await page.getByLabel('Title').waitFor();
  holds('the shortcut of the icon makes a page', await until(async () => await shared.count() === 0 && page.url() === `${base}/w`));
  await context.close();
}

await judge(code, pictures, files, since, newPages);
