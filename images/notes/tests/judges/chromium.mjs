// How each judge in Chromium begins and ends: a browser, people who sign in, and the list of what is wrong.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** How Chromium is started. `CHROMIUM_ARGUMENTS` (JSON) has more: where a host is found, which certificate is right. */
export const STARTED = {
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    ...JSON.parse(process.env.CHROMIUM_ARGUMENTS ?? '[]')],
};
/** A browser beside the usual one; of arguments that are there twice, Chromium takes the last. */
export const launched = (...more) => chromium.launch({ ...STARTED, args: [...STARTED.args, ...more] });
/** One that keeps a profile in a folder, without which Chromium installs nothing. */
export const profiled = (folder) => chromium.launchPersistentContext(folder, STARTED);
export const browser = await launched();
export const wrong = [];
/** The pages that were opened, with what their servers refused or did not answer. */
const seen = new Map();
export const holds = (name, condition) => {
  if (condition) console.log(`holds: ${name}`);
  else wrong.push(name);
};

/** Requests to the API with a token: the answer to a method, a path and a body. */
export const apiOf = (base, token) => async (method, path, body) => {
  const answer = await fetch(`${base}/api/v1${path}`, {
    method, headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
};

/** Waits, after the page went anywhere, until the workspace has drawn what the server had drawn: before, it hears no keys. */
export function awaitsTheWorkspace(page) {
  for (const name of ['goto', 'reload']) {
    const go = page[name].bind(page);
    page[name] = async (...given) => {
      const answer = await go(...given);
      await page.locator('script[data-user]').waitFor({ state: 'detached', timeout: 10_000 }).catch(() => undefined);
      return answer;
    };
  }
}

/** A page in a browser's context of its own. Its errors and what its policy blocks are wrong, unless `expects` them. */
export async function newPage(more = {}, timeout = 60_000, expects = () => false, at = browser) {
  const context = await at.newContext({ viewport: { width: 1280, height: 800 }, ...more });
  context.setDefaultTimeout(timeout);
  context.on('page', awaitsTheWorkspace);
  const page = await context.newPage();
  const refused = [];
  seen.set(page, refused);
  page.on('requestfailed', (one) => refused.push(`${one.method()} ${one.url()}: ${one.failure()?.errorText}`));
  page.on('response', (one) => one.status() >= 400 && refused.push(`${one.request().method()} ${one.url()}: ${one.status()}`));
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  page.on('console', (message) => {
    const text = message.text();
    if (/Content.Security.Policy|TrustedScript|TrustedHTML|Refused/i.test(text) && !expects(text)) wrong.push(text);
  });
  return { context, page };
}

/** Signs a person in by the form of the plain pages. */
export async function signIn(page, base, who) {
  // A page that has just signed out may go there itself, which ends this.
  const go = () => page.goto(`${base}/login`);
  await go().catch(go);
  await page.fill('input[name=email]', who.email);
  await page.fill('input[name=password]', who.password);
  await Promise.all([page.waitForURL(`${base}/`), page.click('form[action="/login"] button')]);
}

/** True once the workspace has made its database: a script that opened it before would make an empty one. */
export const hasStore = (page) => page.evaluate(async () => (await indexedDB.databases()).length > 0);

export async function accessible(page, name) {
  await page.evaluate(axe).catch(() => undefined);
  const found = await page.evaluate(async (run) => {
    // The options of a list are reached by the arrow keys from the text that names it; axe knows that of fields alone.
    const list = `#${document.activeElement?.getAttribute('aria-controls')}`;
    const isReached = ({ target }) => target.join() === list && document.activeElement.hasAttribute('aria-activedescendant');
    return (await globalThis.axe.run({ runOnly: run })).violations
      .map(({ id, nodes }) => ({ id, nodes: nodes.filter((node) => id !== 'scrollable-region-focusable' || !isReached(node)) }))
      .filter(({ nodes }) => nodes.length).map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  }, RULES);
  for (const one of found) wrong.push(`axe, ${name}: ${one}`);
  holds(`axe finds nothing wrong: ${name}`, found.length === 0);
}

/** Prints what the pages that are open show, and the last requests of each that had no good answer. */
async function tell() {
  for (const [page, refused] of [...seen].filter(([one]) => !one.isClosed())) {
    const shown = page.evaluate(() => document.body.innerText.slice(0, 600)).catch(String);
    const limit = new Promise((done) => { setTimeout(done, 3000, 'no answer'); });
    console.log(`at ${page.url()}: ${JSON.stringify(await Promise.race([shown, limit]))}`);
    for (const one of refused.slice(-12)) console.log(`  ${one}`);
  }
}

/** Runs the scenarios in turn (those alone that `SCENARIO` names), also after one that fails; prints what is wrong,
 *  and ends the program. */
export async function judge(...scenarios) {
  const wanted = process.env.SCENARIO?.split(' ') ?? scenarios.map(({ name }) => name);
  for (const scenario of scenarios.filter(({ name }) => wanted.includes(name))) {
    try {
      await scenario();
    } catch (error) {
      wrong.push(`${scenario.name}: ${error.stack}`);
      await tell();
    }
  }
  await browser.close();
  for (const one of wrong) console.log(`wrong: ${one}`);
  process.exit(wrong.length ? 1 : 0);
}
