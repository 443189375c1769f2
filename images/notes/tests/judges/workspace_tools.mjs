// Tools of workspace_together.mjs: a browser, people in it, what the server has, and an address of two replicas.
import { createServer, request } from 'node:http';
import { accessible, apiOf, browser, holds, judge, newPage, signIn, wrong } from './chromium.mjs';

export const [first, second, given] = process.argv.slice(2);
export const { ada, bob, token, ...pages } = JSON.parse(given);
export { accessible, browser, holds, judge, newPage, signIn, wrong };

export async function opened(base, who, id, more = {}) {
  const { context, page } = await newPage(more);
  await signIn(page, base, who);
  await page.goto(`${base}/w/p/${id}`);
  return { context, page, text: await edit(page) };
}

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
/** The looks in which axe sees a screen. */
export const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, forced: { forcedColors: 'active' }, phone: PHONE };

/** Somebody who is signed in at the first address, in a window whose policy lets axe in. */
export async function person(who, more = {}) {
  const { context, page } = await newPage({ bypassCSP: true, ...more }, 30_000);
  await signIn(page, first, who);
  return { context, page };
}

/** Waits for the heading of a screen. */
export const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
export const isFocused = (found) => found.evaluate((one) => one === document.activeElement);

export async function edit(page) {
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.waitFor();
  return text;
}

export const api = apiOf(first, token);

export const docOf = async (id) => (await api('GET', `/nodes/${id}/live`)).doc;
export const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join(node.type === 'doc' ? '|' : '');
export const isSaved = (page) => page.locator('[data-saving=saved]').waitFor();

/** Waits until the browser has stored words that are not sent: the last keys are a moment behind what the state says. */
export async function isKept(page, words) {
  await page.locator('[data-saving=kept]').waitFor();
  const stored = () => page.evaluate(() => new Promise((done, failed) => {
    const opening = indexedDB.open('notes');
    opening.onerror = () => failed(opening.error);
    opening.onsuccess = () => {
      const found = opening.result.transaction('drafts').objectStore('drafts').getAll();
      found.onerror = () => failed(found.error);
      found.onsuccess = () => {
        opening.result.close();
        done(found.result.flatMap(({ steps }) => steps).flatMap(({ slice }) => slice?.content ?? []).map(({ text }) => text ?? '').join(''));
      };
    };
  }));
  await until(async () => (await stored()).includes(words), stored);
}

/** Waits until `look` is true; tells the last answer of `show` if it never is. */
export async function until(look, show = () => '', ms = 40_000) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    if (await look()) return true;
    last ??= Date.now() > end - ms / 2 ? await show() : undefined;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  console.log(`never: ${last}`);
  return false;
}

/** Waits until the browser has stored the parts of the workspace, and needs no network for them. */
export const hasParts = (page) => until(() => page.evaluate(async () => (await caches.keys()).length > 0
  && navigator.serviceWorker.controller !== null));

/** A server that passes each request on to the address that `target` returns, with `more` headers; its address, its end. */
export async function forwarding(target, more = {}) {
  const server = createServer((incoming, outgoing) => {
    const to = new URL(target());
    const { method, url } = incoming;
    const headers = { ...incoming.headers, ...more };
    const passed = request({ host: to.hostname, port: to.port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  const end = () => { server.close(); server.closeAllConnections(); };
  return { server, base: `http://127.0.0.1:${server.address().port}`, end };
}

/** An address behind which each request goes to the other replica than the one before. */
export async function alternating() {
  let count = 0;
  return forwarding(() => [first, second][(count += 1) % 2]);
}
