// Writes at pages that are nearly full, and prints a line for each scenario that holds: what goes beyond a limit is not done
// before it is in the text, and all that is in the text is saved.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { accessible, ada, api, docOf, first, holds, isSaved, judge, newPage, opened, pages, signIn, textOf, until } from './workspace_tools.mjs';

const { space_id: space } = await api('GET', `/nodes/${pages.home}`);
const MAY = { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true };
const line = (text) => ({ type: 'paragraph', content: [{ type: 'text', text }] });
const make = async (title, content) => (await api('POST', `/spaces/${space}/nodes`, { title, doc: { type: 'doc', content } })).id;
const told = (page) => page.locator('[data-limits]');
const nodesOf = (node) => 1 + (node.content ?? []).reduce((sum, one) => sum + nodesOf(one), 0);
const levelsOf = (node) => Math.max(0, ...(node.content ?? []).map(levelsOf))
  + (['blockquote', 'listItem', 'taskItem'].includes(node.type) ? 1 : 0);
/** Typing at the end of a page. */
async function atEnd(page, text) {
  await text.focus();
  await page.keyboard.press('Control+End');
}
const paste = async (page, what) => {
  await page.evaluate((words) => navigator.clipboard.writeText(words), what);
  await page.keyboard.press('Control+v');
};

async function characters() {
  const full = 2_000_000;
  const id = await make('Long', [...Array(999).fill(0).map(() => line('w'.repeat(2000))), line('x'.repeat(1994))]);
  const { context, page, text } = await opened(first, ada, id, MAY);
  const length = async () => textOf(await docOf(id)).replaceAll('|', '').length;
  await atEnd(page, text);
  await page.keyboard.type('a');
  await told(page).waitFor();
  holds('a person reads that a page is nearly full', (await told(page).innerText()) === 'This page is 99% full: it holds at most 2,000,000 characters.');
  await page.keyboard.type('bcdefghij');
  holds('and why a key does nothing', await until(async () => (await told(page).innerText()).startsWith('That was not inserted: a page holds at most 2,000,000 characters.'), () => told(page).innerText()));
  holds('the text is what fits', (await text.locator('p').last().innerText()).endsWith('xabcdef'));
  await isSaved(page);
  holds('and all of it is saved', await length() === full);
  await paste(page, 'much more\n\nthan fits');
  await page.waitForTimeout(500);
  holds('a paste that does not fit changes nothing', (await text.locator('p').last().innerText()).endsWith('xabcdef') && await length() === full);
  await accessible(page, 'a full page, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'a full page, dark');
  await page.setViewportSize({ width: 320, height: 640 });
  holds('it fits on a phone', await told(page).evaluate((one) => one.scrollWidth <= one.clientWidth && one.getBoundingClientRect().right <= innerWidth));
  await page.keyboard.press('Backspace');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('!');
  holds('with room again one writes on', await until(async () => textOf(await docOf(id)).endsWith('xabcd!'), async () => textOf(await docOf(id)).slice(-9))
    && (await told(page).innerText()).startsWith('This page is 99% full'));
  holds('the server has refused nothing', await page.locator('[data-saving=refused]').count() === 0);
  await context.close();
}

/** The same with German words. */
async function openedGerman(id) {
  const { context, page } = await newPage({ locale: 'de-DE' });
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${id}`);
  await page.getByRole('button', { name: 'Bearbeiten', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text der Seite' });
  await text.waitFor();
  return { context, page, text };
}

async function parts() {
  // Each paragraph is one part, and has 199: texts with breaks between them.
  const inner = Array(199).fill(0).map((_, at) => (at % 2 ? { type: 'hardBreak' } : { type: 'text', text: 'a' }));
  const id = await make('Many', [...Array(499).fill(0).map(() => ({ type: 'paragraph', content: inner })), { type: 'paragraph', content: inner.slice(0, 195) }]);
  const { context, page, text } = await openedGerman(id);
  await atEnd(page, text);
  for (const letter of 'bcde') {
    await page.keyboard.press('Enter');
    await page.keyboard.type(letter);
  }
  holds('the same for the number of parts, in German', await until(async () => (await told(page).innerText()).startsWith('Das wurde nicht eingefügt: Eine Seite fasst höchstens 100.000 Teile'), () => told(page).innerText()));
  await isSaved(page);
  const count = nodesOf(await docOf(id));
  holds('what fits is saved', count <= 100_000 && count > 99_995 && await page.locator('[data-saving=refused]').count() === 0
    ? true : (console.log(count), false));
  await context.close();
}

async function levels() {
  const nested = (depth) => (depth ? { type: 'blockquote', content: [nested(depth - 1)] } : line('deep'));
  const id = await make('Deep', [nested(38)]);
  const { context, page, text } = await opened(first, ada, id);
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('> ');
  holds('the last level can be made', await until(async () => levelsOf(await docOf(id)) === 39, async () => levelsOf(await docOf(id))));
  await page.keyboard.type('> ');
  await told(page).waitFor();
  holds('one more is refused, with the reason', (await told(page).innerText()) === 'That was not done: lists, quotes and tables are at most 39 levels deep.');
  await page.keyboard.type('on');
  holds('and what is typed then is saved', await until(async () => textOf(await docOf(id)).includes('>ondeep'), async () => textOf(await docOf(id)))
    && levelsOf(await docOf(id)) === 39 && await page.locator('[data-saving=refused]').count() === 0);
  await context.close();
}

await judge(characters, parts, levels);
