// Writes in the editor as people do, and prints a line for each scenario that holds.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { ada, accessible, api, docOf, first, hasParts, holds, isSaved, judge, opened, pages, textOf, until } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const MAY = { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true };
const MARKDOWN = '# Plan\n\n- one\n- [two](https://a.example/x)\n\n| a | b |\n| - | - |\n| 1 | 2 |\n';

/** Blocks that are moved by keys, addresses that become links, a page copied as Markdown. */
async function blocks() {
  const id = pages.blocks;
  const { context, page, text } = await opened(first, ada, id, { permissions: ['clipboard-read', 'clipboard-write'], bypassCSP: true });
  const seen = async () => textOf(await docOf(id));
  await text.locator('p', { hasText: 'three' }).click();
  await page.keyboard.press('Alt+ArrowUp');
  await page.keyboard.press('Alt+ArrowUp');
  holds('Alt and an arrow move a block', await until(async () => await seen() === 'three|one|two', seen));
  await text.locator('p', { hasText: 'three' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' https://a.example/x. ');
  await page.keyboard.type('then https://b.example');
  await page.keyboard.press('Enter');
  await page.evaluate(() => navigator.clipboard.writeText('https://c.example/'));
  await page.keyboard.press('Control+v');
  await page.keyboard.type(' end');
  const hrefs = async () => (await text.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))).join(' ');
  holds('typed and pasted addresses are links', await until(async () => await hrefs() === 'https://a.example/x https://b.example https://c.example/', hrefs));
  holds('what follows is not', (await text.locator('a').last().innerText()) === 'https://c.example/');
  await isSaved(page);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.waitForTimeout(5000);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('>Copy as Markdown');
  await page.keyboard.press('Enter');
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  holds('a page is copied as Markdown', await until(async () => (await copied()).startsWith('three <https://a.example/x>. then <https://b.example>'), copied));
  await context.close();
}

/** What the keys do is done by buttons too, on a phone: blocks go up and down, items in and out. */
async function touched() {
  const id = pages.touched;
  const { context, page, text } = await opened(first, ada, id, PHONE);
  const seen = async () => textOf(await docOf(id));
  const tap = (name) => page.getByRole('toolbar').getByRole('button', { name, exact: true }).tap();
  await text.locator('p', { hasText: 'three' }).tap();
  await tap('More tools');
  await tap('Move up');
  await tap('Move up');
  holds('a tap moves a block up', await until(async () => (await seen()).startsWith('three|one|two'), seen));
  await tap('Move down');
  holds('and down', await until(async () => (await seen()).startsWith('one|three|two'), seen));
  const inner = async () => JSON.stringify(await docOf(id)).split('"bulletList"').length - 1;
  await text.locator('li', { hasText: 'item b' }).last().tap();
  await tap('Indent the item');
  holds('an item is indented by a tap', await until(async () => await inner() === 2, inner));
  await tap('Outdent the item');
  holds('and outdented', await until(async () => await inner() === 1, inner));
  await isSaved(page);
  await accessible(page, 'the second bar on a phone');
  await context.close();
  const wide = await opened(first, ada, id);
  await wide.text.locator('p', { hasText: 'three' }).click();
  await wide.page.keyboard.press('Control+k');
  await wide.page.getByRole('combobox').fill('>Move up');
  await wide.page.getByRole('option', { name: /^Move up/ }).waitFor();
  await wide.page.keyboard.press('Enter');
  holds('the palette moves a block', await until(async () => (await seen()).startsWith('three|one|two'), seen));
  await wide.page.keyboard.type('x');
  holds('and the caret stays', await until(async () => /^[thre]*x[thre]*\|one/.test(await seen()), seen));
  await wide.context.close();
}

/** Marks that Markdown has no sign for: by keys, by buttons; and the text of a picture. */
async function marks() {
  const id = pages.marks;
  const { context, page, text } = await opened(first, ada, id, { bypassCSP: true });
  const doc = async () => JSON.stringify(await docOf(id));
  const marked = async (name, on) => until(async () => (await doc()).includes(`"type":"${name}"`) === on, doc);
  await text.locator('p', { hasText: 'words' }).click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  for (const [name, key] of [['underline', 'Control+u'], ['highlight', 'Control+Shift+h'], ['subscript', 'Control+,'], ['superscript', 'Control+.']]) {
    await page.keyboard.press(key);
    const isOn = await marked(name, true);
    await page.keyboard.press(key);
    holds(`${key} turns ${name} on and off`, isOn && await marked(name, false));
  }
  await page.getByRole('button', { name: 'More tools' }).click();
  await page.getByRole('button', { name: 'Highlighted' }).click();
  holds('a button highlights', await marked('highlight', true)
    && await page.getByRole('button', { name: 'Highlighted' }).getAttribute('aria-pressed') === 'true');
  await page.getByRole('button', { name: 'Save as a version' }).click();
  await page.getByText('Saved as a version.').waitFor();
  await text.locator('.picture').click();
  const field = page.getByRole('textbox', { name: 'Text in place of the picture' });
  holds('a picture that is selected has a field with its text', await until(async () => await field.inputValue() === 'old'));
  await accessible(page, 'the text of a picture');
  await field.fill('a red door');
  await field.press('Enter');
  holds('its text is changed', await until(async () => (await doc()).includes('"alt":"a red door"'), doc));
  await page.keyboard.press('Control+z');
  holds('and taken back', await until(async () => (await doc()).includes('"alt":"old"'), doc));
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).first().waitFor();
  await page.keyboard.press('?');
  await page.getByText('Superscript').waitFor();
  holds('the list of keys has them', (await page.getByRole('dialog').innerText()).includes('Highlighted'));
  await context.close();
}

/** Ctrl+S makes a version that stays; without a network it says what is kept. */
async function kept() {
  const id = pages.kept;
  const { context, page } = await opened(first, ada, id);
  const versions = async () => (await api('GET', `/nodes/${id}/revisions`)).map(({ version }) => version).join(' ');
  await page.keyboard.type('one ');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved as a version.').waitFor();
  holds('Ctrl+S makes a version at once', await versions() === '2 1');
  for (const word of ['two ', 'three ']) {
    await page.keyboard.type(word);
    await isSaved(page);
    await page.waitForTimeout(4500);
  }
  holds('later edits do not replace it', await until(async () => await versions() === '4 2 1', versions));
  await page.locator('.title-field').press('End');
  await page.keyboard.type(' renamed');
  await page.keyboard.press('Control+s');
  await page.getByText('Saved as a version.').waitFor();
  holds('so does Ctrl+S in the title', await versions() === '5 2 1' && (await api('GET', `/nodes/${id}`)).title.endsWith(' renamed'));
  await page.keyboard.press('Enter');
  await context.setOffline(true);
  await page.keyboard.type('four ');
  await page.keyboard.press('Control+s');
  await page.getByText('Kept in this browser, and sent when the server is reached.').waitFor();
  await context.setOffline(false);
  await isSaved(page);
  holds('without a network it says that all is kept here', textOf(await docOf(id)).includes('four'));
  await context.close();
}

const paste = async (page, what, keys = 'Control+v') => {
  await page.evaluate((text) => navigator.clipboard.writeText(text), what);
  await page.keyboard.press(keys);
};
/** Once the service worker has stored everything, the network is not needed. */
const stored = async (page) => {
  await page.evaluate(() => navigator.serviceWorker.ready);
  await hasParts(page);
};

/** Markdown that is pasted becomes blocks, also without a network, and text again. */
async function markdown() {
  const id = pages.pasted;
  const { context, page, text } = await opened(first, ada, id, MAY);
  await stored(page);
  await page.reload();
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await text.locator('p').first().click();
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await context.setOffline(true);
  await paste(page, MARKDOWN);
  await text.locator('h2', { hasText: 'Plan' }).waitFor();
  const kinds = () => text.evaluate((all) => [...all.children].map((one) => one.tagName).join());
  holds('pasted Markdown becomes blocks, without a network', (await kinds()).startsWith('H2,UL,TABLE') && await text.locator('li').count() === 2);
  await page.locator('.notice', { hasText: 'Backspace makes it text again' }).waitFor();
  await page.keyboard.press('Backspace');
  holds('Backspace makes it text again', await until(async () => await text.locator('h2, ul, table').count() === 0
    && (await text.innerText()).includes('# Plan'), () => text.innerHTML()));
  await context.setOffline(false);
  await page.keyboard.press('Control+z');
  await paste(page, MARKDOWN);
  await text.locator('table').waitFor();
  await page.keyboard.press('Control+z');
  holds('so does undo', await until(async () => await text.locator('h2, ul, table').count() === 0 && (await text.innerText()).includes('# Plan')));
  await page.keyboard.press('Control+z');
  holds('undo once more takes the text away', await until(async () => !(await text.innerText()).includes('Plan')));
  await paste(page, MARKDOWN, 'Control+Shift+V');
  await page.waitForTimeout(500);
  holds('what is pasted as text stays text', (await text.innerText()).includes('# Plan') && await text.locator('h2').count() === 0);
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Delete');
  await paste(page, '## More\n\n[a](javascript:alert(1)) `end`');
  await text.locator('h3').waitFor();
  await page.keyboard.type('!');
  await page.keyboard.press('Backspace');
  holds('after a key Backspace deletes that key alone', await text.locator('h3', { hasText: 'More' }).count() === 1 && await text.locator('code', { hasText: 'end' }).count() === 1);
  holds('an address that could run code is no link', await text.locator('a').count() === 0);
  const before = await text.innerText();
  // The browser is busy until the notice before this one is due to go.
  await text.evaluate((editor) => {
    const data = new DataTransfer();
    data.setData('text/plain', '# x\n'.repeat(500_001));
    for (const end = Date.now() + 6500; Date.now() < end;);
    editor.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await page.waitForTimeout(1000);
  holds('the notice after one that is due stays', (await page.locator('.notice').innerText()).includes('at most two million characters'));
  holds('more than two million characters are not pasted', await text.innerText() === before);
  await isSaved(page);
  const { doc } = await api('GET', `/nodes/${id}/live`);
  holds('the server has the blocks', doc.content[0].type === 'heading' && doc.content[0].attrs.level === 2);
  await context.close();
}

/** `@` offers pages beside people; one is a link by its title. */
async function mentions() {
  const { context, page, text } = await opened(first, ada, pages.linking, MAY);
  const list = page.getByRole('listbox', { name: 'People and pages' });
  const names = () => list.getByRole('option').locator('.choice-text').allTextContents();
  await stored(page);
  await text.locator('p').first().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' see @blo');
  await list.getByRole('option', { name: /^Blocks/ }).waitFor();
  holds('an @ offers pages by their titles', (await names()).join() === 'Blocks');
  holds('a page is named with its space', (await list.getByRole('option').first().textContent()).endsWith('Team'));
  await accessible(page, 'people and pages');
  await page.keyboard.press('Enter');
  await page.keyboard.type('now');
  const link = text.locator('a', { hasText: 'Blocks' });
  holds('a page is linked by its title', await link.getAttribute('href') === `/p/${pages.blocks}`
    && (await text.innerText()).includes('see Blocks now'));
  await page.keyboard.type(' @');
  await list.waitFor();
  holds('people stand above pages, and the page itself is not offered', await until(async () => {
    const found = await names();
    return found.indexOf('Bob') < found.indexOf('Blocks') && found.includes('Bob') && !found.includes('Linking');
  }, names));
  await page.keyboard.press('Escape');
  await context.setOffline(true);
  await page.keyboard.type(' or @past');
  await list.getByRole('option', { name: /^Pasted/ }).waitFor();
  await page.keyboard.press('Tab');
  holds('pages are offered without a network', await text.locator('a', { hasText: 'Pasted' }).getAttribute('href') === `/p/${pages.pasted}`);
  await context.setOffline(false);
  await isSaved(page);
  holds('the linked page knows of it', await until(async () => JSON.stringify(await api('GET', `/nodes/${pages.blocks}/backlinks`)).includes(pages.linking)));
  await context.close();
  for (const [kind, more] of Object.entries({ dark: { colorScheme: 'dark' }, phone: PHONE })) {
    const other = await opened(first, ada, pages.linking, { ...MAY, ...more });
    await other.text.locator('p').first().click();
    await other.page.keyboard.press('End');
    await other.page.keyboard.type(' @');
    await other.page.locator('#mentionable [role=option]').first().waitFor();
    await accessible(other.page, `people and pages, ${kind}`);
    const wide = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    holds(`the list fits: ${kind}`, wide <= 0);
    await other.context.close();
  }
}

await judge(blocks, touched, marks, kept, markdown, mentions);
