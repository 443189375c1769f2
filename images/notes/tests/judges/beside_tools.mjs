// Tools of workspace_beside.mjs and place_beside.mjs: a person at a page, its comments, and their marks in the text.
import { api, newPage, signIn, until } from './workspace_tools.mjs';

export async function person(base, who, path, more = {}, language = '') {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 20_000);
  if (language) await context.addInitScript((wanted) => localStorage.setItem('notes-preferences', JSON.stringify({ language: wanted })), language);
  await signIn(page, base, who);
  await page.goto(`${base}/w/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { context, page };
}

export const marks = (page) => page.evaluate(() => ['notes-comment', 'notes-comment-now']
  .flatMap((name) => [...(CSS.highlights.get(name) ?? [])].map(String)));
export const hasMark = (page, text) => until(async () => (await marks(page)).includes(text), () => marks(page), 15_000);
export const said = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
export const listed = (id) => api('GET', `/nodes/${id}/comments`);
export const thread = (page, text) => page.locator('#beside .thread', { hasText: text });
/** Selects a part of the text as a person does; `nth` of the places that have it. */
export const select = (page, part, nth = 0) => page.evaluate(([text, wanted]) => {
  const walker = document.createTreeWalker(document.querySelector('#main .prose'), NodeFilter.SHOW_TEXT);
  let left = wanted;
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(text);
    if (at < 0 || left-- > 0) continue;
    getSelection().setBaseAndExtent(walker.currentNode, at, walker.currentNode, at + text.length);
    return;
  }
  throw new Error(`no ${text}`);
}, [part, nth]);
export async function clickMark(page, text) {
  const box = await page.evaluate((wanted) => {
    for (const name of ['notes-comment', 'notes-comment-now']) {
      for (const range of CSS.highlights.get(name) ?? []) {
        if (String(range) === wanted) { const { x, y, width, height } = range.getBoundingClientRect(); return { x: x + width / 2, y: y + height / 2 }; }
      }
    }
    return undefined;
  }, text);
  await page.mouse.click(box.x, box.y);
}
