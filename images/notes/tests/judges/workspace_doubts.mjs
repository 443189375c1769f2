// Two people change the same place, one of them without a network: the doubtful place, and the decision. Then an
// edit that the server has lost, and two tabs of one person in a browser without locks. Prints a line for each
// scenario that holds. Arguments: the addresses of two replicas, and users, a token and ids as JSON.
import {
  accessible, ada, bob, docOf, edit, first, holds, isKept, isSaved, judge, opened, pages, second, textOf, until,
} from './workspace_tools.mjs';

const { places, files, forgotten } = pages;
const said = async () => textOf(await docOf(places));
const list = (page) => page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /^Keep mine|^Meinen Text/ }) });

/** Bob writes into a line without a network while Ada deletes it. */
async function conflict(a, b, line, written) {
  await b.context.setOffline(true);
  await b.text.locator('p', { hasText: line }).click();
  await b.text.press('Home');
  await b.text.press('ArrowRight');
  await b.text.pressSequentially(written);
  await b.page.locator('[data-saving=kept]').waitFor();
  await a.text.locator('p', { hasText: line }).click({ clickCount: 3 });
  await a.text.press('Backspace');
  await a.text.press('Backspace');
  await until(async () => !(await said()).includes(line));
  await b.context.setOffline(false);
  await list(b.page).waitFor();
  await isSaved(b.page);
}

async function decisions() {
  const a = await opened(first, ada, places);
  const b = await opened(second, bob, places);
  await conflict(a, b, 'second', '-bob-');
  const words = await list(b.page).innerText();
  holds('both wordings of a doubtful place are shown', words.includes('s-bob-econd') && words.includes('(nothing)'));
  await accessible(b.page, 'a doubtful place, light');
  await b.page.emulateMedia({ colorScheme: 'dark' });
  await accessible(b.page, 'a doubtful place, dark');
  await b.page.reload();
  await b.page.getByRole('button', { name: 'Decide' }).click();
  await list(b.page).waitFor();
  holds('it stays after a reload', (await list(b.page).innerText()).includes('s-bob-econd'));
  const mine = b.page.getByRole('button', { name: 'Keep mine' });
  await mine.focus();
  await b.page.keyboard.press('Tab');
  const next = await b.page.evaluate(() => document.activeElement.textContent);
  await b.page.keyboard.press('Shift+Tab');
  await b.page.keyboard.press('Enter');
  holds('the keyboard decides', next === 'Keep theirs' && await until(async () => await said() === 'first|s-bob-econd|third|fourth', said));
  holds('then nothing is in the list', await until(async () => await list(b.page).count() === 0));
  b.text = b.page.getByRole('textbox', { name: 'Text of the page' });
  await conflict(a, b, 'third', '-bob-');
  await b.page.getByRole('button', { name: 'Keep theirs' }).click();
  await until(async () => await list(b.page).count() === 0);
  holds('or the page stays as it is', await said() === 'first|s-bob-econd|fourth');
  await b.page.reload();
  await edit(b.page);
  await b.page.waitForTimeout(500);
  holds('what is decided does not come back', await list(b.page).count() === 0 && await said() === 'first|s-bob-econd|fourth');
  // The other way round: who deletes offline does not take what was written there meanwhile.
  b.text = b.page.getByRole('textbox', { name: 'Text of the page' });
  await b.context.setOffline(true);
  await b.text.locator('p', { hasText: 'fourth' }).click({ clickCount: 3 });
  await b.text.press('Backspace');
  await b.page.locator('[data-saving=kept]').waitFor();
  await a.text.locator('p', { hasText: 'fourth' }).click();
  await a.text.press('Home');
  await a.text.press('ArrowRight');
  await a.text.pressSequentially('-new-');
  await isSaved(a.page);
  await b.context.setOffline(false);
  await list(b.page).waitFor();
  holds('a deletion spares what somebody else wrote meanwhile', (await said()).endsWith('f-new-ourth')
    && (await list(b.page).innerText()).includes('f-new-ourth'));
  // Both wordings are kept: theirs, and mine behind it.
  const both = b.page.getByRole('button', { name: 'Keep both' });
  holds('a deletion has nothing to keep beside the other text', await both.count() === 0);
  await b.page.getByRole('button', { name: 'Keep theirs' }).click();
  await b.context.setOffline(true);
  await b.text.locator('p', { hasText: 'f-new-ourth' }).click({ clickCount: 3 });
  await b.page.keyboard.type('mine');
  await b.page.locator('[data-saving=kept]').waitFor();
  await a.text.locator('p', { hasText: 'f-new-ourth' }).click();
  await a.text.press('Home');
  await a.text.press('ArrowRight');
  await a.text.pressSequentially('-theirs');
  await isSaved(a.page);
  await b.context.setOffline(false);
  await both.click();
  holds('or both wordings stay', await until(async () => {
    const words = await said();
    return words.includes('f-theirs-new-ourth') && words.indexOf('mine') > words.indexOf('ourth');
  }, said) && await list(b.page).count() === 0);
  await a.context.close();
  await b.context.close();
}

const MB = 1024 * 1024;

async function tabs() {
  const { context, page, text } = await opened(first, ada, files);
  await context.addInitScript(() => { Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }); });
  await page.reload();
  await edit(page);
  const sent = [];
  const refused = [];
  let isRefusing = true;
  await context.route('**/uploads', async (route) => {
    const number = route.request().headers()['upload-chunk'];
    if (number === undefined) return route.continue();
    if (isRefusing && sent.length >= 1) {
      // Not left without an answer: the browser may send that when the tab is closed.
      refused.push(number);
      return route.abort();
    }
    sent.push(number);
    return route.continue();
  });
  await text.pressSequentially('/pict');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), text.press('Enter')]);
  await chooser.setFiles({ name: 'film.png', mimeType: 'image/png', buffer: Buffer.alloc(14 * MB, 3) });
  // The last of four parts is sent when the server has the first one: three are sent at once.
  await until(() => refused.includes('3'), () => sent.join(), 60_000);
  await page.close();
  isRefusing = false;
  const both = await Promise.all([context.newPage(), context.newPage()]);
  await Promise.all(both.map(async (tab) => { await tab.goto(`${first}/w/p/${files}`); await edit(tab); }));
  const pictures = async () => (await docOf(files)).content.flatMap((block) => block.content ?? []).filter((one) => one.type === 'image').length;
  const once = await until(async () => await pictures() === 1, pictures, 90_000);
  await both[0].waitForTimeout(2000);
  holds('two tabs without locks go on with an upload once', once && await pictures() === 1
    && [...sent].sort().join() === '0,1,2,3' ? true : (console.log(sent, await pictures()), false));
  await context.close();
}

async function crash() {
  const { context, page, text } = await opened(first, ada, files);
  await page.route('**/edits', (route) => route.abort());
  await text.press('Control+End');
  await text.pressSequentially(' of a dead tab');
  await isKept(page, ' of a dead tab');
  const other = await context.newPage();
  await other.route('**/edits', (route) => route.abort());
  await other.goto(`${first}/w/p/${files}`);
  await edit(other);
  const wire = await context.newCDPSession(page);
  void wire.send('Page.crash').catch(() => undefined);
  await other.waitForTimeout(500);
  await page.close();
  await other.unroute('**/edits');
  holds('a tab that has the page open sends what a dead one has left', await until(async () =>
    textOf(await docOf(files)).includes(' of a dead tab'), () => '', 70_000));
  await context.close();
}

/** An edit that was accepted, and that the server has lost with all after it: nobody writes on. */
async function lost() {
  const { context, page, text } = await opened(first, ada, forgotten);
  for (const word of ['seen', 'hidden']) {
    if (word === 'hidden') {
      await context.addInitScript(() => { Object.defineProperty(Document.prototype, 'visibilityState', { get: () => 'hidden' }); });
      await page.reload();
      await edit(page);
    }
    let isAnswered = false;
    await page.route('**/edits', async (route) => {
      if (isAnswered || route.request().method() !== 'POST') return route.continue();
      isAnswered = true;
      const { base_seq: seq } = route.request().postDataJSON();
      return route.fulfill({ json: { seq: seq + 1, id: crypto.randomUUID() } });
    });
    await text.press('Control+End');
    await page.keyboard.insertText(` ${word}`);
    await until(() => isAnswered);
    await isSaved(page);
    const now = async () => textOf(await docOf(forgotten));
    const isLost = !(await now()).includes(word);
    holds(`a ${word} tab sends again what the server has lost, although nobody writes on`,
      await until(async () => (await now()).includes(word), now, 70_000) && isLost);
    await page.unroute('**/edits');
  }
  await context.close();
}

await judge(decisions, lost, crash, tabs);
