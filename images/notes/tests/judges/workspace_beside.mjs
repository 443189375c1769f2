// Uses comments, permissions and moving of a page in two Chromium browsers on two replicas, and prints a line for each scenario that holds.
// Arguments: the addresses of the replicas, and the people, a token and the ids of pages as JSON.
import { person, marks, hasMark, said, listed, thread, select, clickMark } from './beside_tools.mjs';
import { leaving, moving, permissions } from './place_beside.mjs';
import { ada, accessible, api, bob, edit, first, holds, isSaved, judge, pages, second, token, until, wrong } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, forced: { forcedColors: 'active' }, phone: PHONE, qps: {}, de: {} };
const TITLES = { en: { permissions: 'Permissions…', move: 'Move to…' }, de: { permissions: 'Berechtigungen…', move: 'Verschieben…' },
  qps: { permissions: '⟦Pe\u0301rmi\u0301ssi\u0301o\u0301ns', move: '⟦Mo\u0301ve\u0301 to\u0301…' } };
const { carl } = pages;

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
  await thread(page, 'Kept until it is sent.').getByText('Not sent yet').waitFor();
  await context.setOffline(false);
  holds('offline nothing is lost', await until(async () => (await listed(pages.notes)).length === 1));
  await page.getByText('Not sent yet').waitFor({ state: 'detached' });
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

const change = (method, id, body) => fetch(`${first}/api/v1/comments/${id}`, {
  method, headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` }, ...(body ? { body: JSON.stringify(body) } : {}),
});

async function answering() {
  const asked = await api('POST', `/nodes/${pages.readme}/comments`, { body: 'Where do we meet?', quote: 'every day' });
  const { context, page } = await person(second, bob, `p/${pages.readme}`);
  const field = (name) => page.getByRole('textbox', { name });
  await hasMark(page, 'every day');
  await page.keyboard.press('c');
  await thread(page, 'Where do we meet?').getByRole('button', { name: 'Reply to' }).click();
  await field('Your reply').fill('In the kitchen');
  await change('PATCH', asked.id, { resolved: true });
  await page.getByRole('button', { name: 'Comments: 1 open' }).waitFor();
  await page.keyboard.type(', at ten');
  holds('a reply is written on while its thread is resolved', await field('Your reply').inputValue() === 'In the kitchen, at ten'
    && await page.locator('#beside .is-over').count() === 1);
  await page.reload();
  await hasMark(page, 'every day');
  await page.keyboard.press('c');
  await thread(page, 'Where do we meet?').waitFor();
  holds('a reply that was being written is there after a reload', await field('Your reply').inputValue() === 'In the kitchen, at ten');
  await change('DELETE', asked.id);
  await said(page, 'Your text is in a new comment.');
  holds('a reply whose thread is deleted becomes a new comment', await field('Your comment').inputValue() === 'In the kitchen, at ten'
    && await page.locator('section.thread .passage').innerText() === 'every day');
  await page.keyboard.press('Control+Enter');
  await said(page, 'The comment is sent.');
  holds('it is sent as any other', (await listed(pages.readme)).some((one) => one.body === 'In the kitchen, at ten' && one.quote === 'every day'));
  await page.getByRole('button', { name: 'Delete the comment of Bob' }).click();
  await page.locator('dialog [data-yes]').click();
  await said(page, 'The comment is deleted.');
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

await judge(together, alone, reader, answering, leaving, permissions, moving, looks);
