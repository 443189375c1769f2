// Two people write at one page on two replicas, as people do: with keys. Prints a line for each scenario that
// holds. Arguments: the addresses of two replicas, and users, a token and ids as JSON. With a fourth argument,
// a folder, it also stores pictures of the editor there.
import { accessible, holds, judge, newPage, signIn } from './chromium.mjs';

const [first, second, given, pictures] = process.argv.slice(2);
const { ada, bob, token, page: pageId, rules } = JSON.parse(given);

/** True while a text with event handlers is pasted, which the policy has to block. */
let blocks = false;
/** Newer versions of Chromium report that they block them. */
const isBlocked = (text) => blocks && /^Executing inline event handler violates .* has been blocked/s.test(text);

async function opened(base, who, id = pageId, more = {}) {
  const { context, page } = await newPage(more, 60_000, isBlocked);
  await signIn(page, base, who);
  await page.goto(`${base}/w/p/${id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

async function edit(page) {
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.waitFor();
  return text;
}

async function api(path) {
  const answer = await fetch(`${first}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

const live = async (id = pageId) => (await api(`/nodes/${id}/live`));
const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join(node.type === 'doc' ? '\n' : '');
const isSaved = (page) => page.locator('[data-saving=saved]').waitFor();

/** Waits until `look` is true; the failure is reported by `holds`. */
async function until(look, ms = 40_000) {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    if (await look()) return true;
    await new Promise((done) => { setTimeout(done, 200); });
  }
  return false;
}

/** The rules of axe hold once the screen has stopped moving. */
async function accessibleAtRest(page, name) {
  await page.waitForTimeout(300);
  await accessible(page, name);
}

const words = (name, count) => Array.from({ length: count }, (_, at) => `${name}${at}`);

async function atOnce() {
  const [a, b] = [await opened(first, ada), await opened(second, bob)];
  const [hers, his] = [await edit(a.page), await edit(b.page)];
  await hers.press('Control+Home');
  await his.press('Control+End');
  await Promise.all([
    hers.pressSequentially(`${words('ada', 25).join(' ')} `, { delay: 15 }),
    his.pressSequentially(` ${words('bob', 25).join(' ')}`, { delay: 15 }),
  ]);
  await Promise.all([isSaved(a.page), isSaved(b.page)]);
  const all = [...words('ada', 25), ...words('bob', 25)];
  const has = (text) => all.every((word) => text.includes(word));
  holds('every character of both is at the server', await until(async () => has(textOf((await live()).doc))));
  // Without the carets, which are drawn only where somebody else is.
  const same = async () => await hers.textContent() === await his.textContent();
  holds('both browsers show the same', await until(same) && has(await hers.innerText()));
  // The caret stays where it is while the other writes.
  await hers.press('Control+Home');
  await Promise.all([hers.pressSequentially('HHHHHHHHHHHHHHHHHHHH', { delay: 25 }),
    his.pressSequentially('tttttttttttttttttttt', { delay: 25 })]);
  holds('the caret stays while somebody else writes', await until(async () =>
    (await hers.innerText()).includes('HHHHHHHHHHHHHHHHHHHH') && (await hers.innerText()).includes('tttttttttttttttttttt')));
  await isSaved(b.page);
  await isSaved(a.page);
  for (let at = 0; at < 30 && (await hers.innerText()).includes('H'); at += 1) await hers.press('Control+z');
  await isSaved(a.page);
  const after = textOf((await live()).doc);
  holds('undo takes back one\'s own words only', !after.includes('HHHHH') && all.every((w) => after.includes(w))
    && after.includes('tttttttttttttttttttt'));
  await a.page.getByRole('textbox', { name: 'Title' }).fill('A new title');
  holds('the title is edited, and follows elsewhere', await until(async () =>
    (await live()).title === 'A new title' && await b.page.getByRole('textbox', { name: 'Title' }).inputValue() === 'A new title'));
  const field = a.page.getByRole('textbox', { name: 'Title' });
  await field.fill('');
  await his.press('Control+End');
  await his.pressSequentially(' meanwhile');
  await until(async () => (await hers.innerText()).includes('meanwhile'));
  holds('a title that is emptied stays so while one thinks', await field.inputValue() === '');
  await field.pressSequentially('Thought out');
  holds('the title that is typed then is the title', await until(async () => (await live()).title === 'Thought out', undefined, 10_000));
  await a.page.getByRole('button', { name: 'Done' }).click();
  await a.page.locator('article .prose', { hasText: 'bob24' }).waitFor();
  holds('after Done the page shows what was written', (await a.page.locator('article .prose').innerText()).includes('ada24'));
  await his.press('Control+End');
  await his.pressSequentially(' afterwards');
  await a.page.locator('article .prose', { hasText: 'afterwards' }).waitFor();
  holds('a reader sees what the other writes', true);
  await a.context.close();
  await b.context.close();
}

async function offline() {
  const [a, b] = [await opened(first, ada), await opened(second, bob)];
  const [hers, his] = [await edit(a.page), await edit(b.page)];
  await a.context.setOffline(true);
  await hers.press('Control+Home');
  await hers.pressSequentially('written offline ');
  await a.page.locator('[data-saving=kept]').waitFor();
  holds('offline the state says so', (await a.page.locator('[data-saving]').innerText()).includes('Offline'));
  await his.press('Control+End');
  await his.pressSequentially(' meanwhile online');
  await isSaved(b.page);
  await a.context.setOffline(false);
  holds('what was written offline is sent when the network is back', await until(async () => {
    const text = textOf((await live()).doc);
    return text.includes('written offline') && text.includes('meanwhile online');
  }));
  holds('both show both', await until(async () => (await his.innerText()).includes('written offline')
    && (await hers.innerText()).includes('meanwhile online')));
  // The tab is closed by the browser before anything is sent.
  await isSaved(a.page);
  await a.page.route('**/edits', (route) => route.abort());
  await hers.press('Control+Home');
  await hers.pressSequentially('before the reload ');
  await a.page.waitForTimeout(500);
  holds('it was not sent', !textOf((await live()).doc).includes('before the reload'));
  await a.page.unroute('**/edits');
  await a.page.reload();
  await a.page.getByRole('heading', { level: 1 }).waitFor();
  holds('after a reload it is sent without a click', await until(async () =>
    textOf((await live()).doc).includes('before the reload')));
  holds('and once only', textOf((await live()).doc).split('before the reload').length === 2);
  // The answer is lost, the edit is not stored twice.
  const again = await edit(a.page);
  let lost = 0;
  await a.page.route('**/edits', async (route) => {
    if (lost > 1) { await route.continue(); return; }
    lost += 1;
    await route.fetch();
    await route.abort();
  });
  await again.press('Control+Home');
  await again.pressSequentially('lost answer ');
  await isSaved(a.page);
  holds('a lost answer repeats nothing', lost > 0 && textOf((await live()).doc).split('lost answer').length === 2);
  await a.context.close();
  await b.context.close();
}

async function paste(page, html, plain = 'x') {
  await page.evaluate(([given, text]) => {
    const data = new DataTransfer();
    data.setData('text/html', given);
    data.setData('text/plain', text);
    document.querySelector('.ProseMirror').dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  }, [html, plain]);
}

async function shortcuts() {
  const { context, page } = await opened(first, ada, rules);
  const text = await edit(page);
  for (const typed of ['# Head', '- one', 'two']) {
    await text.pressSequentially(typed);
    await text.press('Enter');
  }
  await text.press('Enter');
  for (const typed of ['1. num', '']) { await text.pressSequentially(typed); await text.press('Enter'); }
  await text.pressSequentially('> quote');
  await text.press('Enter');
  await text.press('Enter');
  await text.pressSequentially('---');
  await text.pressSequentially('[ ] task');
  await text.press('Enter');
  await text.press('Enter');
  await text.pressSequentially('a **bold** and `code` ');
  await text.press('Control+i');
  await text.pressSequentially('slanted');
  await text.press('Control+i');
  await text.press('Enter');
  await text.pressSequentially('``` x = 1');
  await isSaved(page);
  const types = async () => (await live(rules)).doc.content.map((node) => node.type).filter((type) => type !== 'paragraph').join(' ');
  const wanted = 'heading bulletList orderedList blockquote horizontalRule taskList codeBlock';
  holds('Markdown shortcuts make blocks', await until(async () => await types() === wanted, 10_000) || (console.log(await types()), false));
  const json = JSON.stringify((await live(rules)).doc);
  holds('and marks', ['bold', 'code', 'italic'].every((one) => json.includes(`"type":"${one}"`)));
  await page.getByRole('checkbox').click();
  holds('a task is done by a click', await until(async () => JSON.stringify((await live(rules)).doc).includes('"checked":true')));
  await text.click();
  await text.press('Control+End');
  await text.press('Control+Enter');
  blocks = true;
  await paste(page, '<p onclick="x()">pasted <a href="javascript:alert(1)">evil</a> <a href="https://a.example/x">good</a>'
    + '<script>globalThis.hacked = 1</script><img src="x" onerror="globalThis.hacked = 1"><iframe src="/"></iframe>'
    + '<img src="data:image/png;base64,AA=="><svg onload="globalThis.hacked = 1"></svg></p>');
  await isSaved(page);
  const pasted = JSON.stringify((await live(rules)).doc);
  holds('hostile markup is harmless', pasted.includes('evil') && pasted.includes('https://a.example/x')
    && !/javascript:|data:|hacked|onclick/.test(pasted) && await page.evaluate(() => globalThis.hacked === undefined));
  blocks = false;
  await accessibleAtRest(page, 'the editor, light');
  if (pictures) await page.screenshot({ path: `${pictures}/desktop.png` });
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessibleAtRest(page, 'the editor, dark');
  if (pictures) await page.screenshot({ path: `${pictures}/dark.png` });
  await page.setViewportSize({ width: 360, height: 740 });
  await accessibleAtRest(page, 'the editor on a phone');
  holds('nothing is wider than the phone', await page.evaluate(() => {
    const main = document.getElementById('main');
    return main.scrollWidth <= main.clientWidth && document.documentElement.scrollWidth <= innerWidth;
  }));
  if (pictures) await page.screenshot({ path: `${pictures}/phone.png` });
  await text.click();
  await text.press('Escape');
  await text.press('Tab');
  holds('Escape then Tab leaves the editor', await page.evaluate(() => !document.activeElement.closest('.ProseMirror')));
  await context.close();
}

await judge(atOnce, offline, shortcuts);
