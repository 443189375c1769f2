// Two people at one page on two replicas: carets, uploads and sign-outs in the middle, places that both changed.
// Prints a line for each scenario that holds. Arguments: the addresses of two replicas, and users, a token and ids
// as JSON.
import {
  accessible, ada, alternating, api, bob, docOf, edit, first,
  holds, isSaved, judge, opened, pages, second, signIn, textOf, until,
} from './workspace_tools.mjs';

const { carets: caretPage, files: filePage, leave: leavePage } = pages;

/** The text before the caret of somebody else in its paragraph, and what they have chosen. */
const caretIn = (page) => page.evaluate(() => {
  const caret = document.querySelector('.ProseMirror .caret');
  if (!caret) return 'none';
  const range = document.createRange();
  range.setStart(caret.closest('p'), 0);
  range.setEndBefore(caret);
  const before = [...document.querySelectorAll('.ProseMirror .chosen')].map((one) => one.textContent).join('/');
  return `${caret.dataset.name}: ${range}^ ${before}`;
});
const shows = (page, wanted) => until(async () => await caretIn(page) === wanted, () => caretIn(page));

/** Sends a report with a caret as another client would. */
const hostile = (page, id, caret, isHere = true) => page.evaluate(async ([url, body]) => (await fetch(url, {
  method: 'POST', headers: { 'content-type': 'application/json', 'x-own': 'yes' }, body: JSON.stringify(body),
})).status, [`/api/v1/nodes/${id}/presence`, { tab: '00000000-0000-4000-8000-000000000009', caret, is_here: isHere }]);

async function carets() {
  const a = await opened(first, ada, caretPage);
  const b = await opened(second, bob, caretPage, { reducedMotion: 'reduce' });
  await b.text.press('Control+End');
  await b.text.press('ArrowLeft');
  holds('the caret of somebody else is shown with a name', await shows(a.page, 'Bob: las^ '));
  await b.text.press('Shift+ArrowLeft');
  await b.text.press('Shift+ArrowLeft');
  holds('and what they have chosen', await shows(a.page, 'Bob: l^ as'));
  const reports = [];
  b.page.on('request', (one) => { if (one.url().endsWith('/presence')) reports.push(Date.now()); });
  await a.text.press('Control+End');
  await a.text.pressSequentially(' of ada');
  holds('it stays while one types', await caretIn(a.page) === 'Bob: l^ as');
  await b.text.press('ArrowRight');
  await b.text.pressSequentially('-here-', { delay: 300 });
  holds('it moves while the other types', await shows(a.page, 'Bob: las-here-^ ')
    && await until(async () => textOf(await docOf(caretPage)).endsWith('las-here-t of ada')));
  const pauses = reports.slice(1).map((at, index) => at - reports[index]);
  holds('carets are reported at most once a second', reports.length > 1 && pauses.every((ms) => ms > 700));
  const label = await a.page.locator('.caret').evaluate((one) => ({
    hidden: one.getAttribute('aria-hidden'), editable: one.isContentEditable, live: one.closest('[aria-live]') !== null }));
  holds('a screen reader hears nothing of it', label.hidden === 'true' && !label.live && !label.editable);
  await b.text.press('Shift+ArrowLeft');
  await b.text.press('Shift+ArrowLeft');
  await shows(a.page, 'Bob: las-her^ e-');
  if (process.env.PICTURES) await a.page.screenshot({ path: `${process.env.PICTURES}/caret.png` });
  await accessible(a.page, 'a caret, light');
  await a.page.emulateMedia({ colorScheme: 'dark' });
  await accessible(a.page, 'a caret, dark');
  await a.page.emulateMedia({ forcedColors: 'active' });
  const drawn = await a.page.locator('.caret').evaluate((one) => {
    const { color, backgroundColor } = getComputedStyle(one, '::before');
    return color !== backgroundColor && backgroundColor !== 'rgba(0, 0, 0, 0)';
  });
  holds('it is seen in forced colours', drawn);
  holds('nothing moves where less motion is wanted', await b.page.evaluate(() =>
    [...document.styleSheets].some((sheet) => [...sheet.cssRules].some((rule) => rule.conditionText?.includes('reduced-motion')
      && matchMedia(rule.conditionText).matches && rule.cssText.includes('step-end')))));
  // A client of its own making, while Bob's editor says nothing.
  await b.page.route('**/presence', (route) => (route.request().headers()['x-own'] ? route.continue() : route.abort()));
  const { seq } = await api('GET', `/nodes/${caretPage}/live`);
  holds('a caret behind the end is shown at the end', await hostile(b.page, caretPage, { seq, anchor: 0, head: 2 ** 31 - 1 }) === 200
    && await shows(a.page, 'Bob: las-here-t of ada^ first/las-here-t of ada'));
  holds('one of an edit that nobody made is not shown', await hostile(b.page, caretPage, { seq: 2 ** 53, anchor: 1, head: 1 }) === 200
    && await shows(a.page, 'none'));
  holds('what is no caret is refused', await hostile(b.page, caretPage, { seq, anchor: -1, head: 1, name: 'x'.repeat(9999) }) === 422);
  await a.text.pressSequentially(' goes on');
  await isSaved(a.page);
  holds('the editor goes on', textOf(await docOf(caretPage)).endsWith('of ada goes on'));
  const bold = a.page.getByRole('button', { name: 'Bold' });
  const pressed = [await bold.getAttribute('aria-pressed')];
  for (let at = 0; at < 2; at += 1) {
    await a.text.press('Control+b');
    pressed.push(await bold.getAttribute('aria-pressed'));
  }
  holds('the toolbar says what is on at the caret', pressed.join() === 'false,true,false');
  await hostile(b.page, caretPage, { seq, anchor: 1, head: 1 });
  holds('and shows the next caret', await shows(a.page, 'Bob: ^ '));
  if (process.env.PICTURES) await a.page.screenshot({ path: `${process.env.PICTURES}/caret-forced.png` });
  await hostile(b.page, caretPage, undefined, false);
  await b.page.unroute('**/presence');
  await b.context.close();
  holds('it goes when the other one has gone', await until(async () => await caretIn(a.page) === 'none', () => '', 60_000));
  await a.context.close();
}

const MB = 1024 * 1024;
const fileOf = (name, size) => ({ name, mimeType: 'image/png', buffer: Buffer.alloc(size, 7) });

/** Picks a file by the menu, and lets the server have so many of its chunks; the others hang. */
async function begin(page, text, file, most) {
  const sent = [];
  await page.route('**/uploads', async (route) => {
    const number = route.request().headers()['upload-chunk'];
    if (number === undefined || sent.isOver) return route.continue();
    if (sent.length >= most) return undefined;
    sent.push(Number(number));
    return route.continue();
  });
  const answered = [];
  const note = (answer) => {
    if (answer.request().headers()['upload-chunk'] !== undefined && answer.ok()) answered.push(1);
  };
  page.on('response', note);
  await text.pressSequentially(' /pict');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), text.press('Enter')]);
  await chooser.setFiles(file);
  await until(() => answered.length === most);
  page.off('response', note);
  return sent;
}

const inline = async () => (await docOf(filePage)).content.flatMap((block) => block.content ?? [])
  .map((one) => (one.type === 'image' ? one.attrs.alt : one.text)).join('|');
const waits = (wanted) => until(async () => await inline() === wanted, inline);

async function uploads() {
  const { base, end } = await alternating();
  const { context, page, text } = await opened(base, ada, filePage);
  let asked = 0;
  page.on('dialog', (dialog) => { asked += 1; void dialog.accept(); });
  await text.press('Control+End');
  await text.pressSequentially('before');
  const before = await begin(page, text, fileOf('large.png', 18 * MB), 2);
  await text.pressSequentially('after');
  await isSaved(page);
  before.isOver = true;
  const [after, states] = [[], []];
  page.on('request', (one) => {
    const number = one.headers()['upload-chunk'];
    if (number !== undefined) after.push(Number(number));
    else if (/uploads\/.+/.test(one.url())) states.push(one.method());
  });
  await page.reload();
  holds('a reload goes without a question', asked === 0);
  holds('after the reload the upload goes on, to its place', await waits('before |large|after'));
  holds('the server is asked what it has, and gets only the rest', states[0] === 'GET'
    && [...before, ...after].sort((a, b) => a - b).join() === '0,1,2,3,4');
  const rows = () => page.evaluate(() => new Promise((done) => {
    indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
      const found = [];
      const work = db.transaction(['uploads', 'drafts']);
      for (const name of work.objectStoreNames) work.objectStore(name).count().onsuccess = (one) => found.push(one.target.result);
      work.oncomplete = () => { db.close(); done(found.join()); };
    };
  }));
  holds('nothing of it waits in the browser', await until(async () => await rows() === '0,0', rows));
  // A browser that could not store the bytes.
  const again = await edit(page);
  await again.press('Control+End');
  const begun = await begin(page, again, fileOf('second.png', 9 * MB), 1);
  await isSaved(page);
  await page.evaluate(() => new Promise((done) => {
    indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
      const work = db.transaction('files', 'readwrite');
      work.objectStore('files').clear();
      work.oncomplete = () => { db.close(); done(); };
    };
  }));
  begun.isOver = true;
  after.length = 0;
  await page.reload();
  await edit(page);
  const upload = page.locator('.upload');
  const choose = upload.getByRole('button', { name: 'Choose the file' });
  const pick = async (file) => {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), choose.click()]);
    await chooser.setFiles(file);
  };
  await choose.waitFor();
  await accessible(page, 'a file to choose again');
  await pick(fileOf('second.png', 8 * MB + 1));
  await page.getByText('This is not second.png as it was.').waitFor();
  await pick(fileOf('second.png', 9 * MB));
  holds('a file that the browser lost is chosen again, and goes on', await waits('before |large|after |second')
    && [...begun, ...after].sort((a, b) => a - b).join() === '0,1,2');
  await context.close();
  end();
}

/** What the browser stores of edits that are not sent. */
const drafts = (page) => page.evaluate(() => new Promise((done) => {
  indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
    db.transaction('drafts').objectStore('drafts').count().onsuccess = (one) => { db.close(); done(one.target.result); };
  };
}));

/** Types what does not reach the server; the browser says so in a cookie for the plain pages. */
async function unsent(page, text, typed) {
  await page.route('**/edits', (route) => route.abort());
  await text.press('Control+End');
  await text.pressSequentially(typed);
  await until(async () => /notes-unsent=[^;.]*:1/.test(await page.evaluate(() => document.cookie)));
}

async function signOuts() {
  const { context, page, text } = await opened(first, bob, leavePage);
  const said = async () => textOf(await docOf(leavePage));
  const dialog = page.getByRole('dialog', { name: 'Sign out' });
  const leave = async () => {
    await page.getByRole('button', { name: /Account and settings/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
  };
  const back = async () => {
    await signIn(page, first, bob);
    await page.goto(`${first}/w/p/${leavePage}`);
    return edit(page);
  };
  await unsent(page, text, ' sent');
  await leave();
  await dialog.getByRole('alert').getByText('1 page has').waitFor();
  await accessible(page, 'the question at the sign-out');
  await page.unroute('**/edits');
  await dialog.getByRole('button', { name: 'Send them, then sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor().catch(async (error) => {
    throw new Error(`${error} ${await page.locator('dialog').innerText()}`);
  });
  holds('unsent edits are sent before the sign-out', (await said()).endsWith('start sent') || (console.log(await said()), false));
  await unsent(page, await back(), ' plain');
  await page.goto(`${first}/`);
  await page.getByRole('button', { name: 'Sign out Bob' }).click();
  await page.getByRole('heading', { name: 'Sign out?' }).waitFor();
  holds('the plain sign-out asks, too', await drafts(page) === 1 && /One page has/.test(await page.locator('main').innerText()));
  await accessible(page, 'the question at the plain sign-out');
  await page.unroute('**/edits');
  await page.getByRole('button', { name: 'Sign out and keep them' }).click();
  await page.waitForURL('**/login');
  holds('and keeps them', await drafts(page) === 1 && !(await said()).includes('plain'));
  const again = await back();
  holds('they are sent after the next sign-in', await until(async () => (await said()).endsWith('sent plain'), said));
  await isSaved(page);
  await unsent(page, again, ' gone');
  await leave();
  await dialog.getByRole('button', { name: 'Sign out and delete them' }).click();
  // The page that was offline may ask the server at once, and then goes to the login.
  await page.getByRole('heading', { name: 'You are signed out' }).or(page.locator('input[name=password]')).waitFor();
  await page.unroute('**/edits');
  await back();
  await page.waitForTimeout(1500);
  holds('who deletes them has none', await drafts(page) === 0 && !(await said()).includes('gone'));
  await page.goto(`${first}/`);
  await page.getByRole('button', { name: 'Sign out Bob' }).click();
  await page.waitForURL('**/login');
  holds('without unsent edits nobody is asked', true);
  await context.close();
}

await judge(carets, uploads, signOuts);
