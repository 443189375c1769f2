// Comments and files that the server has accepted and a failover has lost, in two Chromium browsers on two replicas with a
// pair of database servers. Prints a line for each scenario that holds. Argument: what loss.py knows, as JSON.
import { accessible, holds, judge, newPage, signIn } from './chromium.mjs';
import { given, pause } from './loss_people.mjs';
import { act, api } from './loss_world.mjs';

const { fronts, people: [ada, bob], home } = given;
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function until(look, show = () => '', ms = 60_000) {
  for (const end = Date.now() + ms; Date.now() < end; await pause(200)) if (await look()) return true;
  console.log(`never: ${JSON.stringify(await show())}`);
  return false;
}

async function opened(base, who, id) {
  const { context, page } = await newPage({ bypassCSP: true }, 20_000);
  await signIn(page, base, who);
  await page.goto(`${base}/w/p/${id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

const said = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
const thread = (page, text) => page.locator('#beside .thread', { hasText: text });
const lostList = (page) => page.locator('.lost li');
const listed = (id) => api('GET', `/nodes/${id}/comments`);
const bodies = async (id) => (await listed(id)).map((one) => one.body).join('|');

async function comment(page, text) {
  await page.locator('#beside').getByRole('button', { name: 'New comment' }).click();
  await page.getByRole('textbox', { name: 'Your comment' }).fill(text);
  await page.keyboard.press('Control+Enter');
  await said(page, 'The comment is sent.');
  await thread(page, text).waitFor();
}

async function reply(page, to, text) {
  await thread(page, to).getByRole('button', { name: /^Reply to/ }).click();
  await page.getByRole('textbox', { name: 'Your reply' }).fill(text);
  await page.keyboard.press('Control+Enter');
  await said(page, 'The reply is sent.');
}

/** Puts a picture into the text, and waits until the server has it; its address. */
async function picture(page, id) {
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.press('Control+End');
  await page.evaluate(([bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], 'p.png', { type: 'image/png' }));
    document.querySelector('.ProseMirror').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, [PIXEL]);
  await text.locator('img').first().waitFor();
  await page.locator('[data-saving=saved]').waitFor();
  await page.waitForTimeout(300);
  return /\/api\/v1\/attachments\/[0-9a-f-]+/.exec(JSON.stringify((await api('GET', `/nodes/${id}/live`)).doc))[0];
}

async function losses() {
  const made = (title) => api('POST', `/spaces/${home}/nodes`, { title, markdown: 'words\n' });
  const [plan, album] = [(await made('Plan')).id, (await made('Album')).id];
  const one = await opened(fronts[0], ada, plan);
  const other = await opened(fronts[1], bob, plan);
  const [a, b] = [one.page, other.page];
  for (const page of [a, b]) {
    await page.keyboard.press('c');
    await page.locator('#beside').waitFor();
  }
  await comment(a, 'an old one');
  await comment(a, 'to delete');
  // From here on the server loses all that it accepts.
  await act('forget');
  await comment(a, 'a lost thread');
  await reply(a, 'a lost thread', 'a lost reply');
  await thread(a, 'an old one').getByRole('button', { name: 'Edit', exact: true }).click();
  await a.getByRole('textbox', { name: 'Your comment' }).fill('an old one, changed');
  await a.keyboard.press('Control+Enter');
  await said(a, 'The comment is changed.');
  await thread(a, 'an old one, changed').getByRole('button', { name: /^Resolve/ }).click();
  await said(a, 'The thread is resolved.');
  await thread(a, 'to delete').getByRole('button', { name: /^Delete the comment/ }).click();
  await a.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await said(a, 'The comment is deleted.');
  await comment(b, 'a thread of Bob');
  await reply(a, 'a thread of Bob', 'an answer to Bob');
  // Bob's browser does not come back.
  await other.context.close();
  const files = await one.context.newPage();
  await files.goto(`${fronts[0]}/w/p/${album}`);
  const address = await picture(files, album);
  const before = await listed(plan);
  await act('lose');
  const wanted = 'an old one, changed|a lost thread|a lost reply';
  holds('comments, replies and changes come again by themselves', await until(async () => await bodies(plan) === wanted, () => bodies(plan), 90_000));
  const after = await listed(plan);
  const idOf = (list, body) => list.find((found) => found.body === body)?.id;
  holds('with their former ids', ['a lost thread', 'a lost reply'].every((body) => idOf(after, body) === idOf(before, body)));
  holds('a reply is in its thread', after.find(({ body }) => body === 'a lost reply').parent_id === idOf(after, 'a lost thread'));
  holds('a thread is resolved again', after[0].resolved_at !== null);
  holds('a deleted comment is deleted again', !(await bodies(plan)).includes('to delete'));
  const bytes = () => a.evaluate(async (path) => { const answer = await fetch(path); return answer.ok ? (await answer.blob()).size : 0; }, address);
  holds('a file has its former address', await until(async () => await bytes() === atob(PIXEL).length, bytes, 90_000));
  holds('there is one of it', (await api('GET', `/nodes/${album}/attachments`)).length === 1);
  const times = async () => JSON.stringify((await api('GET', `/nodes/${album}/live`)).doc).split(address).length - 1;
  holds('the text shows it once', await until(async () => await times() === 1, times));
  await lostList(a).waitFor();
  holds('a reply to a thread that is missing is in the list', (await lostList(a).innerText()).includes('an answer to Bob'));
  await accessible(a, 'the list of what was lost');
  await a.reload();
  await files.reload();
  await lostList(a).waitFor();
  holds('after a reload nothing comes twice, and the list is there', await bodies(plan) === wanted && await lostList(a).count() === 1);
  await lostList(a).getByRole('button', { name: 'Do it again' }).click();
  await said(a, 'It is done again.');
  holds('its person sends it as a thread of its own', await bodies(plan) === `${wanted}|an answer to Bob`);
  holds('then the list is empty, in the other tab, too', await until(async () => await lostList(a).count() + await lostList(files).count() === 0));
  const rows = () => a.evaluate(() => new Promise((done) => {
    indexedDB.open('notes').onsuccess = ({ target: { result: db } }) => {
      db.transaction('requests').objectStore('requests').count().onsuccess = (found) => { db.close(); done(found.target.result); };
    };
  }));
  const kept = await rows();
  await a.getByRole('button', { name: /Account and settings/ }).click();
  await a.getByRole('menuitem', { name: 'Sign out' }).click();
  await a.locator('dialog .buttons button:not(.primary)').first().click();
  // The other tab's word of it may lead this one to the sign-in first.
  await a.getByRole('heading', { name: /You are signed out|Sign in/ }).first().waitFor();
  holds('a sign-out that deletes leaves nothing of it', kept > 0 && await until(async () => await rows() === 0, rows));
  await one.context.close();
}

await judge(losses);
