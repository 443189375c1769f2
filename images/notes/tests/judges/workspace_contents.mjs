// A person goes to headings of a page by its contents and by addresses, and from page to page by their links. Prints a
// line for each scenario that holds. Arguments: the addresses of two replicas, and users, a token and ids as JSON.
import { accessible, ada, api, bob, first, holds, judge, newPage, pages, second, signIn, until } from './workspace_tools.mjs';

const { long, short, linking, hidden, home } = pages;
/** Each heading of the page, and its address. */
const HEADINGS = [['Plan', 'plan'], ['Title', 'title'], ['Main', 'main'], ['Contents', 'contents'], ['Beside', 'beside'],
  ['Linked', 'linked'], ['Plan', 'plan-1'], ['Über uns', 'über-uns'], ['Topbar', 'topbar'], ['Beside title', 'beside-title']];

async function signedIn(base, who, more = {}) {
  const { context, page } = await newPage(more);
  await signIn(page, base, who);
  return { context, page };
}

/** The element that has the focus: its level, text, and its distance from the upper edge of the page's part. */
const focused = (page) => page.evaluate(() => {
  const one = document.activeElement;
  const top = one.getBoundingClientRect().top - document.getElementById('main').getBoundingClientRect().top;
  return { is: `${one.localName} ${one.textContent.trim().slice(0, 40)}`, inText: one.closest('.prose') !== null, top: Math.round(top) };
});
/** True once the n-th heading of the text has the focus and is at the upper edge, or the page cannot go further. */
const isAt = (page, n) => until(() => page.evaluate((at) => {
  const heading = document.querySelectorAll('.prose h1, .prose h2')[at];
  const main = document.getElementById('main');
  const top = heading.getBoundingClientRect().top - main.getBoundingClientRect().top;
  const isEnd = main.scrollTop + main.clientHeight >= main.scrollHeight - 2;
  return document.activeElement === heading && top > -2 && (top < 120 || (isEnd && top < main.clientHeight));
}, n), () => focused(page).then(JSON.stringify), 8000);

async function contents() {
  const { context, page } = await signedIn(first, ada);
  await page.goto(`${first}/w/p/${long}`);
  const list = page.getByRole('navigation', { name: 'On this page' }).or(page.locator('nav.contents'));
  await list.waitFor();
  const links = list.getByRole('link');
  holds('the contents have each heading', (await links.allTextContents()).join() === HEADINGS.map(([text]) => text).join());
  const wrong = [];
  for (const [n, [text, id]] of HEADINGS.entries()) {
    await links.nth(n).click();
    if (!await isAt(page, n) || decodeURIComponent(new URL(page.url()).hash) !== `#${id}`) wrong.push(text);
  }
  holds(`a click goes to its heading, and the address says so: ${wrong}`, wrong.length === 0);
  await links.nth(2).focus();
  await page.keyboard.press('Enter');
  holds('so does Enter', await isAt(page, 2));
  holds('the list says where one is', await until(async () => (await list.locator('[aria-current=true]').textContent()) === 'Main'));
  holds('its name is its own', await list.evaluate((nav) => {
    const named = document.getElementById(nav.getAttribute('aria-labelledby'));
    return nav.contains(named);
  }));
  await accessible(page, 'a page with headings that are named as parts of the workspace');
  await page.goto(`${first}/w/p/${short}`);
  await page.locator('.prose').waitFor();
  holds('a page with one heading has no contents', await page.locator('nav.contents').count() === 0);
  await context.close();
}

/** Windows that have no room beside the text: a phone, and a small one of a desk. */
const NARROW = {
  phone: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true },
  800: { viewport: { width: 800, height: 600 } },
};

async function narrow() {
  for (const [name, look] of Object.entries(NARROW)) {
    const { context, page } = await signedIn(first, ada, { bypassCSP: true, ...look });
    await page.goto(`${first}/w/p/${long}`);
    const list = page.locator('nav.contents');
    const opener = list.locator('summary');
    await opener.waitFor();
    const links = list.getByRole('link');
    holds(`${name}: the contents are above the text, closed`, await links.count() === 0
      && await list.evaluate((nav) => (nav.compareDocumentPosition(document.querySelector('.prose')) & Node.DOCUMENT_POSITION_FOLLOWING) > 0));
    await opener.focus();
    await page.keyboard.press('Enter');
    await links.first().waitFor();
    holds(`${name}: a key opens them, with each heading`, (await links.allTextContents()).join() === HEADINGS.map(([text]) => text).join());
    await accessible(page, `the open contents, ${name}`);
    holds(`${name}: they fit the window`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await links.nth(4).focus();
    await page.keyboard.press('Enter');
    holds(`${name}: a key goes to a heading and closes them`, await isAt(page, 4) && await links.count() === 0);
    await opener.click();
    await links.nth(7).click();
    holds(`${name}: so does a click`, await isAt(page, 7) && await links.count() === 0 && decodeURIComponent(new URL(page.url()).hash) === '#über-uns');
    await opener.click();
    await links.nth(1).focus();
    await page.keyboard.press('Escape');
    holds(`${name}: Escape closes them, and the focus is at their name`, await until(async () => await links.count() === 0
      && await opener.evaluate((one) => one === document.activeElement), () => '', 5000));
    await page.goto(`${first}/w/p/${short}`);
    await page.locator('.prose').waitFor();
    holds(`${name}: a page with one heading has none`, await page.locator('nav.contents').count() === 0);
    await context.close();
  }
}

async function addresses() {
  const { context, page } = await signedIn(first, ada);
  const wrong = [];
  for (const [n, [text, id]] of HEADINGS.entries()) {
    await page.goto('about:blank');
    await page.goto(`${first}/w/p/${long}#${encodeURIComponent(id)}`);
    await page.locator('.prose').waitFor();
    if (!await isAt(page, n)) wrong.push(text);
  }
  holds(`an address with a heading shows and focuses it: ${wrong}`, wrong.length === 0);
  await page.keyboard.press('Tab');
  holds('the next key goes on from there', await page.evaluate(() => document.querySelector('.prose').contains(document.activeElement)
    || document.activeElement.closest('nav.contents, .page-foot') !== null));
  for (const hash of ['nowhere', '%E0%A4%A', '%00', '<img src=x onerror=alert(1)>']) {
    await page.goto('about:blank');
    await page.goto(`${first}/w/p/${long}#${hash}`);
    await page.locator('.prose').waitFor();
  }
  holds('an address of no heading shows the page', await page.locator('main#main').evaluate((main) => main.scrollTop) === 0);
  await page.goto(`${first}/w/p/${linking}`);
  await page.locator('.prose a').click();
  holds('a link to a heading of another page goes there', await isAt(page, 7) && new URL(page.url()).pathname === `/w/p/${long}`);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Linking' }).waitFor();
  await page.goForward();
  await page.getByRole('heading', { level: 1, name: 'Long' }).waitFor();
  holds('back and forth lead to the same place', await until(() => page.locator('main#main').evaluate((main) => main.scrollTop > 1000)));
  await page.keyboard.press('c');
  await page.locator('aside#beside').waitFor();
  holds('the comments open beside a heading of their name', await page.locator('[id="beside.title"]').isVisible());
  await page.locator('main#main h1').focus();
  await page.keyboard.press('F6');
  holds('a key goes on to them, not to the heading', await page.evaluate(() => document.activeElement.closest('aside#beside') !== null));
  await context.close();
}

async function backlinks() {
  const { context, page } = await signedIn(first, ada);
  await page.goto(`${first}/w/p/${long}`);
  const linked = page.locator('.page-foot section');
  await linked.waitFor();
  holds('the pages that link here are listed', (await linked.getByRole('link').allTextContents()).sort().join() === 'Linking,Secret plans');
  holds('the list has a name of its own', await linked.evaluate((one) => one.contains(document.getElementById(one.getAttribute('aria-labelledby')))));
  await linked.getByRole('link', { name: 'Linking' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Linking' }).waitFor();
  holds('a key goes to one of them', page.url() === `${first}/w/p/${linking}`);
  holds('and focuses its heading', await until(async () => (await focused(page)).is === 'h1 Linking'));
  const his = await signedIn(second, bob);
  await his.page.goto(`${second}/w/p/${long}`);
  const seen = his.page.locator('.page-foot section');
  await seen.waitFor();
  holds('who may not read a page does not see its link', (await seen.getByRole('link').allTextContents()).join() === 'Linking'
    && !(await his.page.content()).includes('Secret plans'));
  await his.page.goto(`${second}/w/p/${hidden}`);
  await his.page.locator('#title').waitFor();
  holds('nor the page', !(await his.page.content()).includes('Secret plans'));
  const made = await api('POST', `/spaces/${home}/nodes`, { title: 'New link', markdown: `[x](/p/${short})\n` });
  await page.goto(`${first}/w/p/${short}`);
  await page.locator('.page-foot section').getByRole('link', { name: 'New link' }).waitFor();
  holds('a new link is listed', true);
  await api('PUT', `/nodes/${made.id}`, { base_version: 1, markdown: 'no link\n' });
  await page.reload();
  await page.locator('.page-foot').waitFor();
  holds('one that is taken out is not', await until(async () => await page.locator('.page-foot section').count() === 0));
  await his.context.close();
  await context.close();
}

await judge(contents, narrow, addresses, backlinks);
