// Words that were written on a stored page without a network, and a return that is not simple. Prints a line for each scenario
// that holds. Arguments: the addresses of two replicas; people, a token, ids and the address of the judge as JSON.
import { list, read, said, save, startEdit, text, write } from './stored_tools.mjs';
import { accessible, ada, api, bob, first, holds, judge, newPage, pages, second, signIn, until } from './workspace_tools.mjs';

/** Has the judge delete the edits of a page by their age. */
async function age(page) {
  const answer = await fetch(`${pages.control}/age?page=${page}`, { method: 'POST' });
  if (!answer.ok) throw new Error(await answer.text());
}

/** Runs in the page: changes or deletes what the browser has stored. `change` is the text of a function of store and record. */
const damage = (page, store, change) => page.evaluate(([name, text]) => new Promise((done, failed) => {
  const opening = indexedDB.open('notes');
  opening.onerror = () => failed(opening.error);
  opening.onsuccess = () => {
    const work = opening.result.transaction([name], 'readwrite');
    const records = work.objectStore(name);
    let count = 0;
    records.openCursor().onsuccess = ({ target: { result: at } }) => {
      if (!at) return;
      // The policy of the page allows no eval: the names of what is done are enough.
      if (text === 'delete') at.delete();
      else if (text === 'break') at.update({ ...at.value, steps: [...at.value.steps, { stepType: 'unknown' }] });
      else at.value.node.doc.content.push({ type: 'hologram', content: [] }), at.update(at.value);
      count += 1;
      at.continue();
    };
    work.oncomplete = () => { opening.result.close(); done(count); };
    work.onerror = () => failed(work.error);
  };
}), [store, change]);

/** Bob reads a page, and writes at its end without a network, or where `keys` lead from there. */
async function writes(id, words, more = {}, keys = []) {
  const { context, page } = await newPage(more);
  const statuses = [];
  page.on('response', (one) => { if (one.url().endsWith(`${id}/edits`)) statuses.push(one.status()); });
  await signIn(page, second, bob);
  await read(page, second, id);
  await context.setOffline(true);
  await write(page, words, keys);
  await page.waitForTimeout(600);
  return { context, page, statuses };
}

const listed = (page, words) => until(async () => (await page.locator('.lost').innerText()).includes(words), () => page.locator('body').innerText());

/** An edit log begins with the first edit: only then something of it is too old. */
async function begins(id) {
  const { context, page } = await newPage();
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${id}`);
  await startEdit(page);
  await text(page).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('begun ');
  await page.locator('[data-saving=saved]').waitFor();
  await until(async () => (await api('GET', `/nodes/${id}`)).version > 1);
  await context.close();
}

async function tooOld() {
  await begins(pages.old);
  const bobs = await writes(pages.old, ' written offline');
  await save(pages.old, 'begun first\n\nmiddle\n\nlast\n\nof others\n');
  await age(pages.old);
  await save(pages.old, 'begun first\n\nmiddle\n\nlast\n\nof others, later\n');
  await bobs.context.setOffline(false);
  const wanted = 'begun first|middle|last written offline|of others, later';
  holds('what was written on a state whose edits are deleted comes to the newest one, once', await until(async () => await said(pages.old) === wanted, () => said(pages.old)));
  holds('and the server did not know that state any more', bobs.statuses.includes(410));
  await bobs.page.locator('[data-saving=saved]').waitFor();
  await bobs.context.close();
  await begins(pages.changed);
  const { context, page, statuses } = await writes(pages.changed, ' written offline ', {}, ['ArrowLeft', 'ArrowLeft']);
  await save(pages.changed, 'begun first\n\nmiddle\n');
  await age(pages.changed);
  await save(pages.changed, 'begun first\n\nmiddle, later\n');
  await context.setOffline(false);
  await page.locator('[data-doubt]').waitFor();
  holds('where its paragraph is gone, it is a doubtful place', (await page.locator('[data-doubt]').innerText()).includes('la written offline st') && statuses.includes(410));
  await page.getByRole('button', { name: 'Keep mine' }).click();
  holds('and comes to the page by its decision', await until(async () => (await said(pages.changed)).endsWith('la written offline st'), () => said(pages.changed)));
  await context.close();
}

async function damaged() {
  const { context, page } = await writes(pages.lost, ' kept words');
  holds('the content of the draft is lost', await damage(page, 'bases', 'delete') > 0);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await startEdit(page);
  await text(page).waitFor();
  holds('the page is edited all the same, from what is stored of it', (await text(page).innerText()).includes('last'));
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' again');
  await page.locator('[data-saving=kept]').waitFor();
  await context.setOffline(false);
  holds('what is written then is sent', await until(async () => (await said(pages.lost)) === 'first|middle|last again', () => said(pages.lost)));
  holds('the words of the damaged draft are listed', await listed(page, 'kept words'));
  holds('with the reason', (await page.locator('.lost').innerText()).includes('cannot be brought to its page'));
  await accessible(page, 'the words of a damaged draft');
  await list(page).getByRole('button', { name: 'Save as a new page' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(pages.lost));
  await page.locator('.prose', { hasText: 'kept words' }).waitFor();
  holds('they are saved as a new page, and leave the list', await until(async () => await list(page).count() === 0));
  await context.close();
}

async function torn() {
  const { context, page } = await writes(pages.torn, ' deutsche Wörter', { locale: 'de-DE' });
  await damage(page, 'drafts', 'break');
  // A new tab knows nothing but what is stored.
  await page.goto('about:blank');
  await context.setOffline(false);
  await page.goto(`${second}/w/p/${pages.torn}`);
  holds('steps that do not apply are listed, in German', await listed(page, 'deutsche Wörter')
    && (await page.locator('.lost').innerText()).includes('lässt sich nicht auf seine Seite bringen'));
  await startEdit(page);
  await text(page).waitFor();
  await text(page).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' neu');
  await page.locator('[data-saving=saved]').waitFor();
  holds('and hold up no edit of the page', await until(async () => (await said(pages.torn)) === 'first|middle|last neu', () => said(pages.torn)));
  await list(page).getByRole('button', { name: 'Aufgeben' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Aufgeben' }).click();
  holds('and are given up by their person alone', await until(async () => await list(page).count() === 0));
  await context.close();
}

async function unknown() {
  for (const [locale, words, edit] of [['en-GB', 'parts that this version of the workspace does not know', 'Edit'], ['de-DE', 'Teile, die diese Fassung der Oberfläche nicht kennt', 'Bearbeiten']]) {
    const { context, page } = await newPage({ locale });
    await signIn(page, second, bob);
    await read(page, second, pages.parts);
    await damage(page, 'pages', 'add');
    await context.setOffline(true);
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await startEdit(page);
    await page.locator('.notice', { hasText: words }).waitFor();
    holds(`a stored page with unknown parts is read, and says why it is not edited: ${locale}`, await text(page).count() === 0
      && await page.locator('.prose', { hasText: 'middle' }).count() === 1 && await page.getByRole('button', { name: edit, exact: true }).count() > 0);
    await context.setOffline(false);
    await until(async () => { await startEdit(page).catch(() => undefined); return await text(page).count() === 1; });
    holds(`and is edited with the return of the network: ${locale}`, (await text(page).innerText()).includes('middle'));
    await context.close();
  }
}

async function refused() {
  const { context, page } = await writes(pages.right, ' refused words');
  const { space_id: home } = await api('GET', `/nodes/${pages.right}`);
  const members = await api('GET', `/spaces/${home}/members`);
  const grants = (role) => ({ grants: members.map(({ principal, kind, role: had }) => ({ principal, kind, role: had === 'manager' ? had : role })) });
  await api('PUT', `/spaces/${home}/members`, grants('viewer'));
  await context.setOffline(false);
  holds('without the right to write, the text is listed', await listed(page, 'refused words'));
  holds('and is not on the page', !(await said(pages.right)).includes('refused words'));
  await page.reload();
  holds('also after the next start', await listed(page, 'refused words'));
  await api('PUT', `/spaces/${home}/members`, grants('editor'));
  await page.reload();
  holds('with the right again it comes to the page, and leaves the list', await until(async () => (await said(pages.right)).endsWith('last refused words') && await list(page).count() === 0,
    () => said(pages.right)));
  await context.close();
}

async function signedOut() {
  const { context, page } = await writes(pages.left, ' of the first tab');
  // The first tab stays without a network: its requests end, those of the other tab do not.
  await page.route('**/api/**', (route) => route.abort());
  await page.route('**/readyz', (route) => route.abort());
  await context.setOffline(false);
  const tab = await context.newPage();
  await tab.route('**/edits', (route) => route.abort());
  await tab.goto(`${second}/w`);
  await tab.getByRole('button', { name: /Bob/ }).first().click();
  await tab.getByRole('menuitem', { name: 'Sign out' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Sign out' });
  await dialog.getByText('1 page has changes or files that the server does not have yet.').waitFor();
  holds('a sign-out says that another tab has unsent text', true);
  await dialog.getByRole('button', { name: 'Sign out and keep them on this device' }).click();
  await until(async () => await text(page).count() === 0, () => page.locator('body').innerText());
  holds('the first tab shows it to nobody then', !(await page.locator('body').innerText()).includes('of the first tab'));
  await page.close();
  await tab.unroute('**/edits');
  await tab.close();
  const next = await context.newPage();
  await signIn(next, second, bob);
  await next.goto(`${second}/w`);
  holds('the next sign-in of its person sends it', await until(async () => (await said(pages.left)).endsWith('last of the first tab'), () => said(pages.left)));
  await context.close();
}

await judge(tooOld, damaged, torn, unknown, refused, signedOut);
