// Makes footnotes in the editor, goes to them and back, and takes them away. Prints a line for each scenario that
// holds. Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { accessible, ada, bob, docOf, edit, first, hasParts, holds, isSaved, judge, newPage, opened, pages, second, signIn, textOf, until } from './workspace_tools.mjs';

const KEY = 'Control+Alt+f';
/** A document in short: signs as ^ with the first part of their label, and its footnotes behind it. */
const short = (node) => {
  if (node.type === 'text') return node.text;
  if (node.type === 'footnoteReference') return `^${node.attrs.label.split('-')[0]}`;
  const inner = (node.content ?? []).map(short).join(node.type === 'doc' ? '|' : '');
  return node.type === 'footnote' ? `${node.attrs.label.split('-')[0]}:${inner}` : inner;
};
const seen = (id) => async () => short(await docOf(id));
const is = (id, wanted) => until(async () => await seen(id)() === wanted, seen(id), 20_000);
/** The command does its work a moment later. */
const press = async (page, key) => { await page.keyboard.press(key); await page.waitForTimeout(500); };

async function one() {
  const id = pages.notes;
  const { context, page, text } = await opened(first, ada, id);
  await text.locator('p').first().click();
  await page.keyboard.press('End');
  await page.keyboard.type(' /foot');
  await page.getByRole('option', { name: 'Footnote' }).waitFor();
  await press(page, 'Enter');
  await page.keyboard.type('the note');
  holds('the menu behind / makes a footnote, and the caret is in it', await is(id, 'words ^1|1:the note'));
  await press(page, KEY);
  await page.keyboard.type(' on');
  holds('the key goes back to its place', await is(id, 'words ^1 on|1:the note'));
  for (const _ of ' on') await page.keyboard.press('ArrowLeft');
  await press(page, KEY);
  await page.keyboard.type('! ');
  holds('and from its place to the footnote', await is(id, 'words ^1 on|1:! the note'));
  await press(page, KEY);
  await page.keyboard.press('Home');
  await press(page, KEY);
  await page.keyboard.type('earlier');
  holds('footnotes are in the order of their places', await is(id, '^2words ^1 on|2:earlier|1:! the note'));
  await text.locator('sup').last().click();
  await page.waitForTimeout(500);
  await page.keyboard.type('? ');
  holds('a click on a sign goes to its footnote', await is(id, '^2words ^1 on|2:earlier|1:? ! the note'));
  await text.locator('.footnote').first().click({ position: { x: 4, y: 8 } });
  await page.waitForTimeout(500);
  await page.keyboard.type('-');
  holds('a click on its number goes back', await is(id, '^2-words ^1 on|2:earlier|1:? ! the note'));
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('combobox').waitFor({ state: 'detached' });
  holds('the caret is in the text again after the palette', await until(() => text.evaluate((node) =>
    node === document.activeElement && node.contains(getSelection().anchorNode)), undefined, 20_000));
  await page.keyboard.press('End');
  await page.keyboard.press('Escape');
  await press(page, KEY);
  holds('the third is made', await is(id, '^2-words ^1 on^3|2:earlier|1:? ! the note|3:'));
  await press(page, KEY);
  await page.keyboard.type('.');
  holds('an empty one is taken away by the key', await is(id, '^2-words ^1 on.|2:earlier|1:? ! the note'));
  await press(page, KEY);
  await page.keyboard.type('third');
  await page.keyboard.press('Control+z');
  await page.waitForTimeout(600);
  await page.keyboard.press('Control+z');
  holds('undo takes sign and footnote back together', await until(async () => !(await seen(id)()).includes('3'), seen(id), 20_000));
  await accessible(page, 'an editor with footnotes');
  await isSaved(page);
  await page.getByRole('button', { name: 'Done' }).click();
  const links = page.locator('.prose sup a');
  await links.first().waitFor();
  holds('readers see them numbered by their places', (await links.allInnerTexts()).join() === '1,2'
    && (await page.locator('.prose section li').first().innerText()).startsWith('earlier'));
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await text.waitFor();
  await text.locator('p').first().click();
  await page.keyboard.press('End');
  await page.keyboard.press('Escape');
  await page.locator('.title-field').focus();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('>Footnote');
  await press(page, 'Enter');
  await page.keyboard.type('by the palette');
  holds('the palette has the command', await until(async () => (await seen(id)()).includes(':by the palette'), seen(id), 20_000));
  await context.close();
}

/** Two people make the first footnote of a page at the same time, one of them without a network. */
async function two() {
  const id = pages.both;
  const a = await opened(first, ada, id);
  const b = await opened(second, bob, id);
  // The command is fetched when it is needed: from the browser's store, once that has it.
  await hasParts(b.page);
  await b.page.reload();
  await edit(b.page);
  await b.context.setOffline(true);
  await b.text.locator('p').last().click();
  await b.page.keyboard.press('End');
  await b.page.keyboard.press(KEY);
  await until(async () => await b.text.locator('.footnote').count() === 1);
  await b.page.keyboard.type('of bob');
  await a.text.locator('p').first().click();
  await a.page.keyboard.press('End');
  await press(a.page, KEY);
  await a.page.keyboard.type('of ada');
  await isSaved(a.page);
  await b.context.setOffline(false);
  holds('two people make a footnote at once, and both are saved', await until(async () => {
    const found = await docOf(id);
    const notes = found.content.filter((node) => node.type === 'footnote').map(textOf).sort().join();
    const labels = JSON.stringify(found).match(/"label":"[^"]+"/g) ?? [];
    return notes === 'of ada,of bob' && labels.length === 4 && new Set(labels).size === 2;
  }, seen(id)));
  holds('nothing is refused', await b.page.locator('[data-saving=refused]').count() === 0 && await a.page.locator('[data-saving=refused]').count() === 0);
  await a.context.close();
  await b.context.close();
}

/** A sign without a footnote, and none in code. In German. */
async function odd() {
  const { context, page } = await newPage({ locale: 'de-DE' });
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${pages.odd}`);
  await page.getByRole('button', { name: 'Bearbeiten', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text der Seite' });
  await text.locator('pre').click();
  await press(page, KEY);
  holds('there is none in code', await text.locator('.footnote').count() === 1);
  await text.locator('p', { hasText: 'cut' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' /fuß');
  await page.getByRole('option', { name: 'Fußnote' }).waitFor();
  await press(page, 'Enter');
  await page.keyboard.type('neu');
  holds('labels that other programs chose stay', await is(pages.odd, 'cut ^old ^1|code|old:other|1:neu'));
  await text.locator('sup', { hasText: 'old' }).click();
  await page.waitForTimeout(500);
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('Delete');
  await press(page, KEY);
  holds('and go as others do', await is(pages.odd, 'cut  ^1|code|1:neu'));
  await context.close();
}

await judge(one, two, odd);
