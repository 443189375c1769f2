// Drags blocks by their handle in the editor, while somebody else writes; prints a line for each rule that holds.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { ada, api, docOf, first, holds, isSaved, judge, opened, pages, textOf, until } from './workspace_tools.mjs';

async function drag() {
  const id = pages.blocks;
  const { context, page, text } = await opened(first, ada, id);
  const seen = async () => textOf(await docOf(id));
  const is = (name, wanted) => until(async () => await seen() === wanted, seen, 15_000).then((found) => holds(name, found));
  const block = (at) => text.locator(':scope > *').nth(at);
  const handle = page.locator('.block-handle');
  const middle = async (at) => {
    const box = await block(at).boundingBox();
    return [box.x + 30, box.y + box.height / 2];
  };
  /** Takes the handle of a block, and holds it over the upper or lower edge of another one. */
  const hold = async (from, to, share) => {
    await page.mouse.move(...await middle(from));
    await handle.waitFor();
    const grip = await handle.boundingBox();
    await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
    await page.mouse.down();
    const box = await block(to).boundingBox();
    await page.mouse.move(box.x + 40, box.y + box.height * share, { steps: 6 });
    await page.waitForTimeout(100);
  };
  await hold(0, 2, 0.95);
  await page.mouse.up();
  await is('a block is dragged behind another one', `two|three|one|${await listText(id)}`);
  await hold(3, 0, 0.05);
  await page.mouse.up();
  await is('a list moves as a whole', `${await listText(id)}|two|three|one`);
  await page.mouse.move(...await middle(1));
  await handle.click();
  holds('a click selects the block', await text.locator('.ProseMirror-selectednode').innerText() === 'two');
  await page.keyboard.press('Control+z');
  await is('one step back undoes a drag', `two|three|one|${await listText(id)}`);
  holds('no drag leaves a mark', await page.locator('.block-line').isHidden());
  await hold(0, 2, 0.95);
  const live = await api('GET', `/nodes/${id}/live`);
  const step = { stepType: 'replace', from: 1, to: 1, slice: { content: [{ type: 'text', text: 'X' }] } };
  await api('POST', `/nodes/${id}/edits`, { client: crypto.randomUUID(), n: 1, base_seq: live.seq, base_id: live.id, steps: [step] });
  holds('what somebody else writes meanwhile is shown', await until(async () => (await block(0).innerText()) === 'Xtwo', () => text.innerText(), 15_000));
  await page.mouse.up();
  await is('and moves with the block', `three|one|Xtwo|${await listText(id)}`);
  await isSaved(page);
  holds('nothing is there twice', await text.innerText().then((all) => all.match(/two/g).length === 1));
  await context.close();
}

/** The text of the page's list. */
async function listText(id) {
  const { content } = await docOf(id);
  return textOf(content.find((node) => /list/i.test(node.type)));
}

await judge(drag);
