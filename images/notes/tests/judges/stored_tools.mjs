// Tools of the judges that edit stored pages without a network.
import { api, docOf, hasParts, isKept, textOf, until } from './workspace_tools.mjs';

export const text = (page) => page.locator('.ProseMirror');
export const said = async (id) => textOf(await docOf(id).catch(() => ({ text: '' })));
export const list = (page) => page.locator('.lost li');

/** Runs in the page: what the browser has stored of a page; with `forget` it is as an earlier version stored it. */
export const storedOf = (page, id, forget = false) => page.evaluate(([of, isOld]) => new Promise((done, failed) => {
  const opening = indexedDB.open('notes');
  opening.onerror = () => failed(opening.error);
  opening.onsuccess = () => {
    const work = opening.result.transaction(['pages'], 'readwrite');
    let found;
    work.objectStore('pages').get(of).onsuccess = (event) => {
      found = event.target.result;
      if (!found || !isOld) return;
      delete found.node.edit;
      delete found.base;
      work.objectStore('pages').put(found);
    };
    work.oncomplete = () => { opening.result.close(); done(found); };
  };
}), [id, forget]);

/** Reads a page with all that the browser needs to edit it later. */
export async function read(page, base, id) {
  await page.goto(`${base}/w/p/${id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await hasParts(page);
  await until(async () => {
    const found = await storedOf(page, id);
    return Boolean(found?.node.edit ?? found?.base);
  }, () => storedOf(page, id));
}

export async function startEdit(page) {
  await page.getByRole('button', { name: /^(Edit|Bearbeiten)$/ }).first().click();
}

/** Without a network, after a reload: opens the editor of a stored page and types at its end, or where `keys` lead from there. */
export async function write(page, words, keys = []) {
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await startEdit(page);
  await text(page).waitFor();
  await text(page).click();
  for (const key of ['Control+End', ...keys]) await page.keyboard.press(key);
  await page.keyboard.type(words);
  await isKept(page, words);
}

/** Somebody else saves the page by the API. */
export async function save(id, markdown) {
  for (let attempt = 0; ; attempt += 1) {
    const { version } = await api('GET', `/nodes/${id}`);
    try {
      await api('PUT', `/nodes/${id}`, { base_version: version, markdown });
      return;
    } catch (error) {
      // What was written a moment ago is saved first.
      if (attempt === 5 || !error.message.includes(': 409')) throw error;
    }
  }
}
