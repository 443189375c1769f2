// Drags pages in the tree, with a mouse and by touch; prints a line for each rule that holds.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { ada, api, first, holds, judge, newPage, pages, signIn, until } from './workspace_tools.mjs';

const PHONE = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };
const title = (id) => Object.keys(pages).find((name) => pages[name] === id) ?? id;

/** The tree as the server has it: titles, children in brackets. */
async function order() {
  const { space_id: space } = await api('GET', `/nodes/${pages.Apple}`);
  const nodes = await api('GET', `/spaces/${space}/tree`);
  const below = (parent) => nodes.filter((node) => node.parent_id === parent)
    .map((node) => `${title(node.id)}${below(node.id) && `(${below(node.id)})`}`).join(' ');
  return below(null);
}

const becomes = (name, wanted) => until(async () => await order() === wanted, order, 15_000).then((is) => holds(name, is));

async function mouse() {
  const { context, page } = await newPage();
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${pages.Apple}`);
  const row = (name) => page.getByRole('treeitem', { name, exact: true });
  await row('Cherry').waitFor();
  await page.waitForTimeout(500);
  const at = async (name, share) => {
    const box = await row(name).boundingBox();
    return [box.x + box.width / 2, box.y + box.height * share];
  };
  const press = async (name) => { await page.mouse.move(...await at(name, 0.5)); await page.mouse.down(); await page.waitForTimeout(300); };
  const over = async (name, share) => page.mouse.move(...await at(name, share), { steps: 5 });
  await press('Cherry');
  await over('Apple', 0.1);
  holds('the place is shown', await row('Apple').getAttribute('data-drop') === 'before');
  await page.mouse.up();
  await becomes('a page comes before another one', 'Cherry Apple Banana Date');
  holds('the drop opens no page', page.url().endsWith(pages.Apple));
  await press('Banana');
  await over('Cherry', 0.5);
  await page.mouse.up();
  await becomes('a page comes below another one', 'Cherry(Banana) Apple Date');
  await row('Banana').waitFor();
  holds('the page below which it came is open', true);
  await press('Cherry');
  await over('Banana', 0.5);
  holds('no page comes below itself', await row('Banana').getAttribute('data-drop') === null);
  await page.mouse.up();
  await press('Date');
  await over('Cherry', 0.1);
  await page.keyboard.press('Escape');
  holds('Escape ends it', await row('Cherry').getAttribute('data-drop') === null);
  await page.mouse.up();
  await row('Date').click();
  await page.waitForURL(`**/${pages.Date}*`);
  holds('a click still opens a page', true);
  holds('and nothing was moved', await order() === 'Cherry(Banana) Apple Date');
  await context.setOffline(true);
  await press('Date');
  await over('Cherry', 0.1);
  await page.mouse.up();
  await page.waitForTimeout(500);
  await context.setOffline(false);
  holds('without a connection nothing is moved', await order() === 'Cherry(Banana) Apple Date');
  await context.close();
}

async function touch() {
  const { context, page } = await newPage(PHONE);
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${pages.Apple}`);
  await page.getByRole('button', { name: 'Show the sidebar' }).click();
  const row = (name) => page.getByRole('treeitem', { name, exact: true });
  await row('Date').waitFor();
  await page.waitForTimeout(500);
  const session = await context.newCDPSession(page);
  const finger = async (type, name, share) => {
    const box = name && await row(name).boundingBox();
    const touchPoints = box ? [{ x: box.x + box.width / 2, y: box.y + box.height * share }] : [];
    await session.send('Input.dispatchTouchEvent', { type, touchPoints });
  };
  await finger('touchStart', 'Date', 0.5);
  await page.waitForTimeout(200);
  await finger('touchEnd');
  await page.waitForTimeout(300);
  await page.goto(`${first}/w/p/${pages.Apple}`);
  await page.getByRole('button', { name: 'Show the sidebar' }).click();
  await row('Date').waitFor();
  await page.waitForTimeout(500);
  await finger('touchStart', 'Date', 0.5);
  await page.waitForTimeout(900);
  for (const share of [0.4, 0.3, 0.2, 0.1]) await finger('touchMove', 'Cherry', share);
  await finger('touchEnd');
  await becomes('by touch after a long press', 'Date Cherry(Banana) Apple');
  await context.close();
}

await judge(mouse, touch);
