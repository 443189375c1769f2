// The comments of loss.mjs: how a person makes one, and how many a browser shows.
import { pause } from './loss_people.mjs';
import { api } from './loss_world.mjs';

/** Comments on a line of the text; true if this person has seen that it is sent, or kept to be sent. */
export async function commented(tab, line, words) {
  await line.click({ timeout: 5000 });
  await tab.keyboard.press('Home');
  await tab.keyboard.press('Shift+End');
  await tab.keyboard.press('Control+Alt+m');
  const field = tab.getByRole('textbox', { name: 'Your comment' });
  try {
    await field.fill(words, { timeout: 4000 });
    await tab.keyboard.press('Control+Enter');
    for (const end = Date.now() + 6000; Date.now() < end; await pause(60)) {
      if (await tab.locator('.notice', { hasText: /The comment is sent|It is kept here/ }).count() && !await field.count()) return true;
    }
    return false;
  } finally {
    // In a small window the panel is over the text.
    await tab.locator('#beside .close-panel').click({ timeout: 2000 }).catch(() => undefined);
  }
}

/** The texts of a page's comments; of a page that is lost, nothing. */
export const commentsOf = (page) => api('GET', `/nodes/${page}/comments`).then(
  (list) => list.map((one) => one.body),
  (error) => {
    if (/: 404 /.test(error.message)) return [];
    throw error;
  },
);

/** The number of comments that a tab shows above its page. */
export async function threadsShown(tab) {
  const label = await tab.locator('button[aria-expanded][title^=Comments]').first().getAttribute('title', { timeout: 2000 });
  return Number(/(\d+) open/.exec(label)?.[1] ?? 0);
}

/** What a tab has read since it was opened, for who looks for the cause of a difference. */
export const readIn = (tab) => tab.evaluate(() => {
  const all = performance.getEntriesByType('resource').filter((one) => /\/(comments|me|events|tree|live)\b/.test(one.name));
  const told = all.slice(-30).map((one) => `${Math.round(one.startTime)} ${new URL(one.name).pathname.slice(-20)} ${one.responseStatus}`);
  return `${document.visibilityState} for ${Math.round(performance.now())} ms: ${told.join(', ')}`;
});
