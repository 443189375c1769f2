// Sets the look of a space's site in Chromium, visits the site, and prints a line for each scenario that holds.
// Arguments: address; two managers' sign-ins, the space, one of its pages and its domain as JSON.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { signIn } from './screen_acts.mjs';

const [base, given] = process.argv.slice(2);
const { ada, bob, space, made, domain } = JSON.parse(given);
const site = `http://${domain}:${new URL(base).port}`;
const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', `--host-resolver-rules=MAP ${domain} 127.0.0.1`,
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const wrong = [];
const holds = (name, condition) => {
  if (condition) console.log(`holds: ${name}`);
  else wrong.push(name);
};
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" width="40" height="20"><script>document.title = "ran"</script><rect width="40" height="20" fill="#c60"/></svg>';

function watch(page) {
  page.on('pageerror', (error) => wrong.push(`error: ${error}`));
  page.on('console', (message) => {
    if (/Content.Security.Policy|TrustedScript|Refused/i.test(message.text())) wrong.push(message.text());
  });
}

async function settings(person, more = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...more });
  context.setDefaultTimeout(40_000);
  await signIn(context, base, { email: person.email, password: person.password });
  const page = await context.newPage();
  watch(page);
  await page.goto(`${base}/w/s/${space}/settings`);
  const part = page.locator('section[aria-labelledby=space-look]');
  await part.locator('form').waitFor();
  return { context, page, part };
}

async function checked(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await globalThis.axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
    .violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html)}`));
  for (const one of found) wrong.push(`axe, ${name}: ${one}`);
  holds(`axe finds nothing wrong: ${name}`, found.length === 0);
}

const look = async (context) => (await context.request.get(`${base}/api/v1/spaces/${space}/look`)).json();

/** A manager sets it; another one saves an older form. */
async function manage() {
  const { context, page, part } = await settings(ada);
  const other = await settings(bob, { locale: 'de-DE', viewport: { width: 320, height: 640 } });
  const file = part.getByLabel('Logo');
  await file.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await part.getByRole('alert').getByText('This is no picture').waitFor();
  await file.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.alloc(262_145) });
  await part.getByRole('alert').getByText('A logo may have at most 256 KB.').waitFor();
  holds('what is no picture, or too large, is refused', (await look(context)).logo === null);
  await part.getByRole('checkbox', { name: /A colour of its own/ }).check();
  await part.getByLabel('Colour', { exact: true }).fill('#ffd500');
  await file.setInputFiles({ name: 'a.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(LOGO) });
  await part.getByRole('img', { name: 'The logo of the site' }).waitFor();
  holds('a logo is shown, and what was typed stays', await part.getByLabel('Colour', { exact: true }).inputValue() === '#ffd500');
  await part.getByRole('button', { name: 'Add a link' }).click();
  await page.waitForFunction(() => document.activeElement?.matches('[data-row]'));
  await page.keyboard.type('Shop');
  await part.getByLabel('Address of link 1').fill('javascript:alert(1)');
  await part.getByRole('button', { name: 'Save' }).click();
  await part.getByRole('alert').getByText('A link is a path').waitFor();
  holds('a hostile address is refused, with the reason', (await look(context)).version === 0);
  await part.getByLabel('Address of link 1').fill('https://shop.example/');
  await part.getByRole('button', { name: 'Add a link' }).click();
  await part.getByLabel('Text of link 2').fill('Start here');
  await part.getByLabel('Address of link 2').fill(`/p/${made}`);
  await part.getByRole('button', { name: 'Save' }).click();
  await part.getByText('#ffd500 is made darker or lighter where text in it could not be read.').waitFor();
  const now = await look(context);
  holds('the colour is adapted, and the screen tells it', now.shown.light !== '#ffd500' && now.shown.dark === '#ffd500');
  holds('the focus stays where it was', await part.getByRole('button', { name: 'Save' }).evaluate((one) => one === document.activeElement));
  await checked(page, 'the settings');

  const theirs = other.part;
  await theirs.getByRole('checkbox', { name: /Suchmaschinen/ }).uncheck();
  await theirs.getByRole('button', { name: 'Speichern' }).click();
  await theirs.getByRole('alert').getByText('Inzwischen hat jemand anders').waitFor();
  holds('who saves an older look overwrites nothing', (await look(context)).links.length === 2);
  await theirs.getByRole('button', { name: 'Zeigen, wie es jetzt ist' }).click();
  await theirs.getByLabel('Text von Link 2').waitFor();
  holds('they see how it is now, in German', await theirs.getByLabel('Text von Link 1').inputValue() === 'Shop');
  holds('320 pixels are wide enough for it', await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0);
  await checked(other.page, 'the settings on a phone, in German');
  await theirs.getByRole('checkbox', { name: /Suchmaschinen/ }).uncheck();
  await theirs.getByRole('button', { name: 'Speichern' }).click();
  await other.page.getByText('Gespeichert.', { exact: true }).first().waitFor();
  holds('then they save it', (await look(context)).is_indexed === false);
  await context.close();
  await other.context.close();
}

/** The site, without a session and without scripts of its own. */
async function visit(name, more) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false, ...more });
  const page = await context.newPage();
  watch(page);
  await page.goto(`${site}/p/${made}`);
  return { context, page };
}

const rgb = (colour) => `rgb(${[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).join(', ')})`;

async function colours() {
  const { shown } = await (async () => {
    const context = await browser.newContext();
    await signIn(context, base, ada);
    const found = await look(context);
    await context.close();
    return found;
  })();
  for (const [scheme, colour] of [['light', shown.light], ['dark', shown.dark]]) {
    const { context, page } = await visit(scheme, { colorScheme: scheme });
    const link = page.locator('.beside a').first();
    holds(`links have the colour of the site: ${scheme}`, await link.evaluate((one) => getComputedStyle(one).color) === rgb(colour));
    const logo = page.locator('.brand img');
    holds(`the logo is drawn: ${scheme}`, await logo.evaluate((one) => one.complete && one.naturalWidth > 0));
    holds(`the picture's script does not run: ${scheme}`, await page.title() !== 'ran');
    await context.close();
  }
}

async function checks() {
  for (const [name, more] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['forced colours', { forcedColors: 'active' }],
    ['a phone', { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true }]]) {
    // axe itself is a script, which the policy of the pages forbids.
    const { context, page } = await visit(name, { ...more, bypassCSP: true });
    await checked(page, `a page, ${name}`);
    await page.goto(`${site}/`);
    await checked(page, `the front page, ${name}`);
    if (name === 'a phone') holds('320 pixels are wide enough for the site', await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) <= 0);
    await context.close();
  }
}

async function without() {
  const { context, page } = await visit('no scripts', { javaScriptEnabled: false });
  const visible = async (locator) => locator.first().isVisible();
  holds('without scripts there are name, navigation, tree and search', await visible(page.getByRole('link', { name: 'Handbook' }))
    && await visible(page.getByRole('link', { name: 'Shop' })) && await visible(page.locator('.beside')) && await visible(page.getByRole('searchbox')));
  holds('the link to this page is marked', await page.locator('header [aria-current=page]').innerText() === 'Start here');
  await page.emulateMedia({ media: 'print' });
  holds('on paper there are the text and the name, not the navigation', await visible(page.locator('.brand')) && await visible(page.locator('article'))
    && !(await visible(page.locator('.beside'))) && !(await visible(page.getByRole('searchbox'))) && !(await visible(page.getByRole('link', { name: 'Shop' }))));
  const picture = process.env.SITE_PICTURE;
  if (picture) await page.pdf({ path: picture });
  await context.close();
}

for (const scenario of [manage, colours, checks, without]) {
  try {
    await scenario();
  } catch (error) {
    wrong.push(`${scenario.name}: ${error}`);
  }
}
await browser.close();
for (const one of wrong) console.log(`wrong: ${one}`);
process.exit(wrong.length ? 1 : 0);
