// Writes in the editor as people do, and prints a line for each scenario that holds.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { ada, docOf, first, holds, isSaved, judge, opened, pages, textOf, until } from './workspace_tools.mjs';

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

await judge(blocks);
