// Uses comments, permissions and moving of a page in two Chromium browsers on two replicas, and prints a line for each scenario that holds.
// Arguments: the addresses of the replicas, and the people, a token and the ids of pages as JSON.
import { ada, accessible, api, bob, browser, edit, first, holds, isSaved, pages, second, signIn, until, wrong } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, forced: { forcedColors: 'active' }, phone: PHONE, qps: {}, de: {} };
const TITLES = { en: { permissions: 'Permissions…', move: 'Move to…' }, de: { permissions: 'Berechtigungen…', move: 'Verschieben…' },
  qps: { permissions: '⟦Pe\u0301rmi\u0301ssi\u0301o\u0301ns', move: '⟦Mo\u0301ve\u0301 to\u0301…' } };
const { carl } = pages;

async function person(base, who, path, more = {}, language = '') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true, ...more });
  context.setDefaultTimeout(20_000);
  if (language) await context.addInitScript((wanted) => localStorage.setItem('notes-preferences', JSON.stringify({ language: wanted })), language);
  const page = await context.newPage();
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  await signIn(page, base, who);
  await page.goto(`${base}/w/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

const marks = (page) => page.evaluate(() => ['notes-comment', 'notes-comment-now']
  .flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)));
const hasMark = (page, text) => until(async () => (await marks(page)).includes(text), () => marks(page), 15_000);
const said = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
const listed = (id) => api('GET', `/nodes/${id}/comments`);
const thread = (page, text) => page.locator('#beside .thread', { hasText: text });
/** Selects a part of the text as a person does; `nth` of the places that have it. */
const select = (page, part, nth = 0) => page.evaluate(([text, wanted]) => {
  const walker = document.createTreeWalker(document.querySelector('#main .prose'), NodeFilter.SHOW_TEXT);
  let left = wanted;
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(text);
    if (at < 0 || left-- > 0) continue;
    getSelection().setBaseAndExtent(walker.currentNode, at, walker.currentNode, at + text.length);
    return;
  }
  throw new Error(`no ${text}`);
}, [part, nth]);
async function clickMark(page, text) {
  const box = await page.evaluate((wanted) => {
    for (const name of ['notes-comment', 'notes-comment-now']) {
      for (const range of CSS.highlights.get(name) ?? []) {
        if (String(range) === wanted) { const { x, y, width, height } = range.getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }; }
      }
    }
    return undefined;
  }, text);
  await page.mouse.click(box.x, box.y);
}

async function together() {
  const one = await person(first, ada, `p/${pages.plan}`);
  const other = await person(second, bob, `p/${pages.plan}`);
  const [a, b] = [one.page, other.page];
  await until(() => a.evaluate(() => document.fonts.status === 'loaded'));
  await a.waitForTimeout(1500);
  await select(a, 'on Tuesday', 1);
  await a.getByRole('button', { name: 'Comment', exact: true }).click();
  await a.getByRole('textbox', { name: 'Your comment' }).fill('Is that still true?');
  holds('the passage of a new comment is marked', await until(async () => (await marks(a)).length === 1));
  await a.keyboard.press('Control+Enter');
  await said(a, 'The comment is sent.');
  const [made] = await listed(pages.plan);
  holds('a passage that is there twice is quoted with words around it', made.quote.includes('on Tuesday') && made.quote !== 'on Tuesday'
    && 'We release on Tuesday. The kitchen is cleaned on Tuesday, too.'.split(made.quote).length === 2);
  holds('the passage is marked in the text that is read', await hasMark(a, made.quote));
  holds('a comment appears on another replica without a reload', await hasMark(b, made.quote));
  holds('the bar says how many are open', await b.getByRole('button', { name: 'Comments: 1 open' }).count() === 1);
  await clickMark(b, made.quote);
  await thread(b, 'Is that still true?').waitFor();
  holds('a click on the passage leads to its thread', await until(() => b.evaluate((id) => document.activeElement?.dataset.thread === id, made.id)));
  await b.getByRole('button', { name: 'Reply to Ada' }).click();
  await b.getByRole('textbox', { name: 'Your reply' }).fill('<b>Yes</b>, it is.\nAsk Carl.');
  await b.getByRole('button', { name: 'Reply', exact: true }).click();
  await thread(a, '<b>Yes</b>, it is.').waitFor();
  holds('a reply appears on another replica without a reload', true);
  holds('a reply is text', await a.locator('#beside .body b').count() === 0);
  holds('who is neither its author nor a manager cannot delete a comment', await b.getByRole('button', { name: 'Delete the comment of Ada' }).count() === 0
    && await b.getByRole('button', { name: 'Delete the comment of Bob' }).count() === 1);

  // The passage moves, and is written in.
  const text = await edit(b);
  holds('the passage is marked in the text that is edited', await hasMark(b, made.quote));
  await text.click();
  await b.keyboard.press('Control+Home');
  await b.keyboard.type('New words before it. ');
  await isSaved(b);
  await a.locator('.prose', { hasText: 'New words before it.' }).waitFor();
  holds('the mark moves with an edit before it', await hasMark(a, made.quote) && await hasMark(b, made.quote));
  await select(b, 'on ', 1);
  await b.keyboard.type('every ');
  await isSaved(b);
  const changed = made.quote.replace('on', 'every');
  holds('the passage of this test has the word that is changed', changed !== made.quote);
  holds('the mark stays at a passage that is written in', await hasMark(b, changed) && await hasMark(a, changed));
  await thread(a, 'The text has changed since.').waitFor();
  await a.reload();
  holds('the passage is found after a reload', await hasMark(a, changed));
  await b.keyboard.press('Escape');
  await select(b, 'every');
  await b.keyboard.press('ArrowLeft');
  await b.keyboard.press('Control+Alt+m');
  holds('the thread at the caret is found by a key', await until(() => b.evaluate((id) => document.activeElement?.dataset.thread === id, made.id)));
  await b.keyboard.press('Escape');
  await b.locator('#beside').waitFor({ state: 'detached' });
  holds('Escape closes the panel and goes back to the text', await b.evaluate(() => document.activeElement?.classList.contains('ProseMirror')));
  await b.keyboard.press('Control+a');
  await b.keyboard.press('Delete');
  await b.keyboard.type('Nothing of it.');
  await isSaved(b);
  await a.keyboard.press('c');
  await thread(a, 'This passage is not in the text any more.').waitFor();
  holds('the thread says that its passage is gone', await until(async () => (await marks(a)).length === 0));

  await a.getByRole('button', { name: 'Resolve the thread of Ada' }).click();
  await said(a, 'The thread is resolved.');
  await a.getByText('No open comments.').waitFor();
  holds('a resolved thread is shown on demand only', await thread(a, 'Is that still true?').count() === 0
    && (await listed(pages.plan))[0].resolved_at !== null);
  await a.getByRole('button', { name: 'Show 1 resolved thread' }).click();
  await a.getByRole('button', { name: 'Reopen the thread of Ada' }).click();
  await said(a, 'The thread is open again.');
  holds('a thread is opened again', (await listed(pages.plan))[0].resolved_at === null);
  await a.getByRole('button', { name: 'Delete the comment of Bob' }).click();
  await a.locator('dialog [data-yes]').click();
  await said(a, 'The comment is deleted.');
  holds('a manager deletes the comment of somebody else', (await listed(pages.plan)).length === 1);
  await a.getByRole('button', { name: 'Edit', exact: true }).last().click();
  await a.locator('#beside textarea').fill('Was that true?');
  await a.getByRole('button', { name: 'Save' }).click();
  await thread(a, 'Was that true?').waitFor();
  holds('an author changes a comment', (await listed(pages.plan))[0].body === 'Was that true?');
  await one.context.close();
  await other.context.close();
}

async function alone() {
  const { context, page } = await person(first, bob, `p/${pages.notes}`);
  await page.getByRole('button', { name: 'Comments' }).click();
  await page.getByText('No open comments. Select some text').waitFor();
  await page.getByRole('button', { name: 'New comment' }).click();
  await context.setOffline(true);
  await page.getByRole('textbox', { name: 'Your comment' }).fill('Kept until it is sent.');
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await said(page, 'The server is not reached.');
  holds('offline nothing is lost', await page.getByRole('textbox', { name: 'Your comment' }).inputValue() === 'Kept until it is sent.');
  await context.setOffline(false);
  await page.getByRole('button', { name: 'Comment', exact: true }).click();
  await thread(page, 'Kept until it is sent.').waitFor();
  const [made] = await listed(pages.notes);
  holds('a comment on the page has no passage', made.quote === null && made.author_name === 'Bob');
  await select(page, 'A line');
  await page.keyboard.press('c');
  holds('a key comments on the selection', await page.locator('section.thread .passage').innerText() === 'A line.\nA line.' || /A line/.test(await page.locator('section.thread .passage').innerText()));
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Delete the comment of Bob' }).click();
  await page.locator('dialog [data-yes]').click();
  await said(page, 'The comment is deleted.');
  holds('an author deletes a comment', (await listed(pages.notes)).length === 0);
  await context.close();
}

async function reader() {
  const body = { body: 'Only to be read.', quote: 'Read me' };
  await api('POST', `/nodes/${pages.readme}/comments`, body);
  const { context, page } = await person(second, carl, `p/${pages.readme}`);
  holds('a reader sees the mark', await hasMark(page, 'Read me'));
  await select(page, 'Read me');
  await page.waitForTimeout(600);
  holds('a reader is not asked for a comment', await page.getByRole('button', { name: 'Comment', exact: true }).count() === 0);
  await page.keyboard.press('c');
  await thread(page, 'Only to be read.').waitFor();
  holds('a reader has no form', await page.locator('#beside textarea').count() === 0
    && await page.locator('#beside').getByRole('button', { name: /Reply|Resolve|New comment|Delete/ }).count() === 0);
  await context.close();
}

async function looks() {
  const made = await api('POST', `/nodes/${pages.readme}/comments`, { body: 'A question?', quote: 'every day' });
  await api('POST', `/nodes/${pages.readme}/comments`, { body: 'An answer.', parent_id: made.id });
  await api('POST', `/nodes/${pages.readme}/comments`, { body: 'Lost.', quote: 'never written anywhere' });
  for (const [kind, more] of Object.entries(LOOKS)) {
    const language = kind === 'qps' || kind === 'de' ? kind : '';
    const { context, page } = await person(first, ada, `p/${pages.readme}`, more, language);
    await page.locator('.prose').waitFor();
    await page.keyboard.press('c');
    await thread(page, 'A question?').waitFor();
    await page.waitForTimeout(600);
    await accessible(page, `${kind}, comments`);
    await page.locator('#beside > button').first().click();
    await page.locator('#beside textarea').fill('A draft');
    await accessible(page, `${kind}, new comment`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) wrong.push(`${kind}: ${wide} pixels too wide`);
    if (kind === 'de') holds('the panel is German', await page.getByRole('heading', { name: 'Kommentare' }).count() === 1);
    await page.keyboard.press('Escape');
    await page.locator('#beside .close-panel').click();
    await page.locator('#beside').waitFor({ state: 'detached' });
    for (const name of ['permissions', 'move']) {
      await page.locator('.topbar [aria-haspopup=menu]').last().click();
      await page.locator(`[role=menuitem]:has-text("${TITLES[kind]?.[name] ?? TITLES.en[name]}")`).click();
      await page.locator('dialog .primary').waitFor();
      if (name === 'permissions') await page.locator('dialog .primary').click();
      await page.waitForTimeout(300);
      await accessible(page, `${kind}, ${name}`);
      const over = await page.evaluate(() => Math.max(document.documentElement.scrollWidth - innerWidth,
        document.querySelector('dialog').scrollWidth - document.querySelector('dialog').clientWidth));
      if (over > 0) wrong.push(`${kind}, ${name}: ${over} pixels too wide`);
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    }
    await context.close();
  }
}

const menu = async (page, name) => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name }).click();
};
const closed = (page) => page.locator('dialog').waitFor({ state: 'detached' });
const rolesOf = async (id) => Object.fromEntries((await api('GET', `/nodes/${id}/access`)).grants.map((one) => [one.name, one.role]));

async function permissions() {
  const one = await person(first, ada, `p/${pages.board}`);
  const other = await person(second, bob, `p/${pages.board}`);
  const third = await person(second, carl, `p/${pages.board}`);
  const [a, b, c] = [one.page, other.page, third.page];
  await c.getByRole('button', { name: 'More actions' }).click();
  holds('the dialog is for those who manage the page', await c.getByRole('menuitem', { name: 'Permissions…' }).count() === 0);
  await c.keyboard.press('Escape');
  await menu(a, 'Permissions…');
  await a.getByText('The permissions of the space Team apply here.').waitFor();
  holds('the dialog names who has which role', await a.locator('.grant', { hasText: 'Bob' }).getByText('Can edit').count() === 1);
  await a.getByRole('button', { name: 'Set permissions of its own' }).click();
  await a.getByRole('button', { name: 'Remove Carl' }).click();
  await a.getByLabel('Role of Bob').selectOption('manager');
  await a.getByRole('combobox', { name: 'Add a person or a group' }).fill('car');
  await a.getByRole('option', { name: /Carl/ }).waitFor();
  holds('an administrator sees addresses', /carl@example.org/.test(await a.getByRole('option', { name: /Carl/ }).innerText()));
  await a.keyboard.press('Enter');
  await a.getByLabel('Role of Carl').waitFor();
  holds('Enter adds a person, and saves nothing', (await api('GET', `/nodes/${pages.board}/access`)).origin === 'space');
  await a.getByRole('button', { name: 'Save' }).click();
  await said(a, 'The permissions are saved.');
  await closed(a);
  const now = await rolesOf(pages.board);
  holds('the permissions are saved', now.Bob === 'manager' && now.Carl === 'viewer' && now.Ada === 'manager');
  await b.getByRole('button', { name: 'More actions' }).waitFor();
  await until(async () => {
    await b.getByRole('button', { name: 'More actions' }).click();
    const isThere = await b.getByRole('menuitem', { name: 'Permissions…' }).count();
    if (isThere) await b.getByRole('menuitem', { name: 'Permissions…' }).click();
    else await b.keyboard.press('Escape');
    return isThere > 0;
  });
  await b.getByText('have permissions of their own').waitFor();
  holds('who becomes a manager of the page can open the dialog at once', true);
  await b.getByRole('combobox').first().waitFor();
  const field = b.getByRole('combobox', { name: 'Add a person or a group' });
  await field.fill('dor');
  await b.getByText('Nobody whom you may find has this name.').waitFor();
  holds('a manager does not learn of strangers', await b.getByRole('option', { name: /Dora/ }).count() === 0);
  holds('a manager sees no addresses', await b.locator('dialog', { hasText: '@example.org' }).count() === 0);
  await field.fill('');
  await b.getByLabel('Role of Bob').selectOption('viewer');
  await b.getByRole('button', { name: 'Save' }).click();
  await b.getByText('You would lose the right to manage this page.').waitFor();
  holds('nobody locks themselves out', (await rolesOf(pages.board)).Bob === 'manager');
  await b.getByLabel('Role of Bob').selectOption('manager');
  await b.getByRole('button', { name: 'Remove Carl' }).click();
  await b.getByRole('button', { name: 'Save' }).click();
  await said(b, 'The permissions are saved.');
  await c.getByRole('heading', { name: 'This page does not exist' }).waitFor();
  holds('who is removed does not see the page any more, without a reload', true);
  await b.keyboard.press('Control+k');
  await b.getByRole('combobox').fill('Permissions');
  await b.keyboard.press('Enter');
  await b.getByRole('button', { name: 'Give up its own permissions' }).click();
  await b.getByRole('button', { name: 'Yes, give them up' }).click();
  await said(b, 'The page has no permissions of its own any more.');
  holds('the permissions of the space apply again', (await api('GET', `/nodes/${pages.board}/access`)).origin === 'space');
  for (const { context } of [one, other, third]) await context.close();
}

async function moving() {
  const one = await person(first, ada, `p/${pages.notes}`);
  const other = await person(second, bob, `p/${pages.notes}`);
  const [a, b] = [one.page, other.page];
  await a.getByRole('treeitem', { name: 'Board' }).waitFor();
  await a.keyboard.press('m');
  await a.locator('dialog', { hasText: 'Move “Notes”' }).waitFor();
  await a.getByRole('combobox', { name: 'Below which page' }).fill('boa');
  await a.keyboard.press('Enter');
  await a.getByText('New place: Board').waitFor();
  await a.getByRole('button', { name: 'Move here' }).focus();
  await a.keyboard.press('Enter');
  await said(a, '“Notes” is moved: Board.');
  holds('a page is moved by the keyboard alone', (await api('GET', `/nodes/${pages.notes}`)).parent_id === pages.board);
  await closed(a);
  await b.getByRole('navigation', { name: 'Path' }).getByText('Board').waitFor();
  holds('the tree of another browser follows', true);
  await menu(a, 'Move to…');
  await a.getByRole('option', { name: 'Top level of Team' }).click();
  await a.getByLabel('Position').selectOption({ label: 'After “Plan”' });
  await a.getByRole('button', { name: 'Move here' }).click();
  await said(a, 'is moved: Top level of Team.');
  const order = (await api('GET', `/spaces/${pages.home}/tree`)).filter((node) => !node.parent_id).map((node) => node.title);
  holds('a page gets its position', order.indexOf('Notes') === order.indexOf('Plan') + 1);
  await closed(a);
  await menu(a, 'Move to…');
  holds('a page is not offered a place below itself', await a.getByRole('option', { name: 'Notes' }).count() === 0);
  await a.locator('dialog').getByLabel('Space').selectOption({ label: 'Archive' });
  await a.getByText('may read the page there').waitFor();
  await a.getByText('New place: Top level of Archive').waitFor();
  await a.getByRole('button', { name: 'Move here' }).click();
  await said(a, 'is moved: Top level of Archive.');
  holds('a page is moved to another space', (await api('GET', `/nodes/${pages.notes}`)).space_id === pages.archive);
  await b.getByRole('treeitem', { name: 'Notes' }).waitFor({ state: 'detached' });
  holds('who may not read the other space loses the page', true);
  const hidden = await api('POST', `/spaces/${pages.home}/nodes`, { title: 'Hidden', parent_id: pages.board });
  const { id } = await api('GET', '/me');
  await api('PUT', `/nodes/${hidden.id}/permissions`, { grants: [{ principal: id, kind: 'user', role: 'manager' }] });
  await b.goto(`${second}/w/p/${pages.board}`);
  await b.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
  await b.getByRole('treeitem', { name: 'Plan' }).waitFor();
  await b.keyboard.press('m');
  await b.getByRole('combobox', { name: 'Below which page' }).fill('Plan');
  await b.keyboard.press('Enter');
  await b.getByRole('button', { name: 'Move here' }).click();
  await b.locator('dialog [role=alert]', { hasText: 'You may not do this.' }).waitFor();
  holds('a refused move says so, and changes nothing', (await api('GET', `/nodes/${pages.board}`)).parent_id === null);
  for (const { context } of [one, other]) await context.close();
}

for (const scenario of [together, alone, reader, permissions, moving, looks]) {
  try {
    await scenario();
  } catch (error) {
    wrong.push(`${scenario.name}: ${error}`);
  }
}
await browser.close();
for (const one of wrong) console.log(`wrong: ${one}`);
process.exit(wrong.length ? 1 : 0);
