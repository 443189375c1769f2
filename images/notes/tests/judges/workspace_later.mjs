// Comments without a network in Chromium: kept, shown, answered, given up, sent with its return, or refused then.
// Prints a line for each scenario that holds. Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { hasMark, listed, marks, person, said, select, thread } from './beside_tools.mjs';
import { accessible, ada, api, bob, first, hasParts, holds, judge, pages, second, token, until } from './workspace_tools.mjs';

const KEPT = 'It is kept here, and sent when you are online again.';
const NOT_SENT = 'Not sent yet';
const bodies = async (id) => (await listed(id)).map((one) => one.body).sort();
const sent = (id, ...wanted) => until(async () => (await bodies(id)).join() === wanted.join(), async () => (await bodies(id)).join());

/** A person at a page whose browser has all that it needs without a network. */
async function ready(base, who, id) {
  const one = await person(base, who, `p/${id}`);
  await hasParts(one.page);
  await one.page.getByRole('button', { name: 'Comments' }).click();
  await one.page.locator('[id="beside.title"]').waitFor();
  return one;
}

async function write(page, label, text) {
  await page.getByRole('textbox', { name: label }).fill(text);
  await page.keyboard.press('Control+Enter');
}

async function later() {
  const id = pages.plan;
  const asked = await api('POST', `/nodes/${id}/comments`, { body: 'Who comes?', quote: 'on Tuesday' });
  const { context, page } = await ready(first, bob, id);
  await thread(page, 'Who comes?').waitFor();
  await context.setOffline(true);
  await page.getByRole('button', { name: 'Reply to' }).click();
  await write(page, 'Your reply', 'I do.');
  await said(page, KEPT);
  await thread(page, 'I do.').getByText(NOT_SENT).waitFor();
  holds('an answer without a network is kept, and is below its thread', await thread(page, 'Who comes?').getByText('I do.').count() === 1);
  await select(page, 'The kitchen');
  await page.keyboard.press('c');
  await write(page, 'Your comment', 'Which one?');
  await thread(page, 'Which one?').getByText(NOT_SENT).waitFor();
  holds('a comment without a network marks its passage', await hasMark(page, 'The kitchen'));
  await thread(page, 'Which one?').getByRole('button', { name: 'Reply to Bob' }).click();
  await write(page, 'Your reply', 'The small one.');
  await thread(page, 'The small one.').waitFor();
  holds('one that waits can be answered, not resolved', await page.getByRole('button', { name: 'Resolve the thread of Bob' }).count() === 0);
  await page.getByRole('button', { name: 'New comment' }).click();
  await write(page, 'Your comment', 'Never mind.');
  await thread(page, 'Never mind.').waitFor();
  await accessible(page, 'comments that wait');
  await thread(page, 'Never mind.').getByRole('button', { name: 'Delete the comment of Bob' }).click();
  await page.locator('dialog [data-yes]').click();
  holds('one that waits is given up', await until(async () => await thread(page, 'Never mind.').count() === 0));
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Plan' }).waitFor();
  await page.getByRole('button', { name: 'Comments' }).click();
  await thread(page, 'The small one.').waitFor();
  holds('they are there after a reload without a network', await page.locator('#beside').getByText(NOT_SENT).count() === 3
    && await thread(page, 'I do.').count() === 1);
  holds('nothing is sent', (await bodies(id)).join() === 'Who comes?');
  const other = await person(second, ada, `p/${id}`);
  await context.setOffline(false);
  holds('all are sent with the network', await sent(id, 'I do.', 'The small one.', 'Which one?', 'Who comes?'));
  const found = await listed(id);
  const by = (body) => found.find((one) => one.body === body);
  holds('answers are below their threads at the server', by('I do.').parent_id === asked.id
    && by('The small one.').parent_id === by('Which one?').id && by('Which one?').quote === 'The kitchen');
  holds('the others see them without a reload', await hasMark(other.page, 'The kitchen'));
  holds('nothing says any more that it waits', await until(async () => await page.locator('#beside').getByText(NOT_SENT).count() === 0
    && await thread(page, 'The small one.').count() === 1, () => page.locator('#beside').innerText()));
  await page.waitForTimeout(1500);
  holds('each is there once', (await bodies(id)).length === 4 && (await marks(page)).filter((one) => one === 'The kitchen').length === 1);
  await context.close();
  await other.context.close();
}

/** The right is lost meanwhile: a person decides what becomes of their words. */
async function refused() {
  const id = pages.notes;
  const { context, page } = await ready(second, bob, id);
  await context.setOffline(true);
  await page.getByRole('button', { name: 'New comment' }).click();
  await write(page, 'Your comment', 'Too late.');
  await thread(page, 'Too late.').waitFor();
  const { space_id } = await api('GET', `/nodes/${id}`);
  const me = await api('GET', '/me');
  await fetch(`${first}/api/v1/spaces/${space_id}/members`, {
    method: 'PUT', body: JSON.stringify({ grants: [{ principal: me.id, kind: 'user', role: 'manager' }] }),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  });
  await context.setOffline(false);
  const lost = page.locator('[data-lost]', { hasText: 'Too late.' });
  await lost.waitFor();
  holds('what is refused is listed with its words', await page.getByText('1 thing that you did could not be done at the server.').count() === 1);
  await accessible(page, 'a refused comment');
  await lost.getByRole('button', { name: 'Give it up' }).click();
  await lost.waitFor({ state: 'detached' });
  holds('and is given up', (await bodies(id)).length === 0);
  await context.close();
}

await judge(later, refused);
