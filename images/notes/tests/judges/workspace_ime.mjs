// Composes letters as input methods do, while somebody else writes in the same line on another replica; prints a line
// for each scenario that holds. Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { ada, bob, docOf, first, holds, isSaved, judge, opened, pages, second, textOf, until } from './workspace_tools.mjs';

/** What an input method does: the texts that it shows one after the other, and the one that it leaves. */
const METHODS = {
  chinese: { steps: ['n', 'ni', 'ni h', 'ni hao'], text: '你好' },
  japanese: { steps: ['k', 'か', 'かn', 'かん', 'かんじ', '漢字'], text: '漢字' },
  korean: { steps: ['ㅎ', '하', '한'], text: '한' },
  german: { steps: ['´'], text: 'é' },
};

async function composed(session, page, { steps, text }, between) {
  for (const [at, step] of steps.entries()) {
    await session.send('Input.imeSetComposition', { text: step, selectionStart: step.length, selectionEnd: step.length });
    await between(at);
    await page.waitForTimeout(150);
  }
  await session.send('Input.insertText', { text });
}

async function methods() {
  for (const [name, method] of Object.entries(METHODS)) {
    const id = pages[name];
    const [a, b] = [await opened(first, ada, id), await opened(second, bob, id)];
    const session = await a.context.newCDPSession(a.page);
    await a.text.locator('p').first().click();
    await a.page.keyboard.press('End');
    await b.text.locator('p').first().click();
    await b.page.keyboard.press('Home');
    await composed(session, a.page, method, (at) => b.page.keyboard.type(`${at}`));
    await b.page.keyboard.type('.');
    const wanted = `${method.steps.map((_, at) => at).join('')}.one two${method.text}`;
    const seen = async () => textOf(await docOf(id));
    await isSaved(a.page);
    await isSaved(b.page);
    holds(`${name}: what was composed is there once, and what somebody else wrote`, await until(async () => await seen() === wanted, seen, 15_000));
    const shown = () => a.text.locator('p').first().innerText();
    holds(`${name}: the writer sees it`, await until(async () => await shown() === wanted, shown, 10_000));
    await a.context.close();
    await b.context.close();
  }
}

/** Android replaces a whole word while it is typed on, and when a suggestion is chosen. */
async function replacement() {
  const id = pages.android;
  const [a, b] = [await opened(first, ada, id), await opened(second, bob, id)];
  const session = await a.context.newCDPSession(a.page);
  await a.text.locator('p').first().click();
  await a.page.keyboard.press('End');
  await b.text.locator('p').first().click();
  await b.page.keyboard.press('Home');
  const word = 'one two'.length - 3;
  for (const [at, text] of ['twoo', 'twoor', 'tworo'].entries()) {
    await session.send('Input.imeSetComposition', {
      text, selectionStart: text.length, selectionEnd: text.length, ...(at ? {} : { replacementStart: word, replacementEnd: word + 3 }),
    });
    await b.page.keyboard.type(`${at}`);
    await a.page.waitForTimeout(150);
  }
  await session.send('Input.insertText', { text: 'tomorrow ' });
  await isSaved(a.page);
  const seen = async () => textOf(await docOf(id)).trim();
  holds('a word is replaced while somebody else writes', await until(async () => await seen() === '012one tomorrow', seen, 15_000));
  await a.context.close();
  await b.context.close();
}

/** Edits of others wait at most some seconds for a composition that does not end. */
async function waiting() {
  const id = pages.waiting;
  const [a, b] = [await opened(first, ada, id), await opened(second, bob, id)];
  const session = await a.context.newCDPSession(a.page);
  await a.text.locator('p').first().click();
  await a.page.keyboard.press('End');
  await session.send('Input.imeSetComposition', { text: 'ni', selectionStart: 2, selectionEnd: 2 });
  await b.text.locator('p').first().click();
  await b.page.keyboard.press('Home');
  await b.page.keyboard.type('late ');
  const shown = () => a.text.innerText();
  await isSaved(b.page);
  await a.page.waitForTimeout(800);
  holds('what others write waits for a composition', !(await shown()).includes('late'));
  holds('but some seconds at most', await until(async () => (await shown()).includes('late'), shown, 15_000));
  await session.send('Input.insertText', { text: '你' });
  const seen = async () => textOf(await docOf(id));
  holds('and both are kept', await until(async () => await seen() === 'late one two你', seen, 15_000));
  await a.context.close();
  await b.context.close();
}

await judge(methods, replacement, waiting);
