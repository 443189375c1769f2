// Drags pages in the tree, with a mouse and by touch, and holds what is on its way to the server; prints a line for
// each rule that holds.
// Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { ada, api, first, holds, judge, newPage, pages, signIn, token, until } from './workspace_tools.mjs';

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

const said = (page, text) => page.locator('.notice', { hasText: text }).waitFor();
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
  await said(page, '“Date” is not moved: The server is not reached.');
  const places = await page.getByRole('treeitem').allInnerTexts();
  await context.setOffline(false);
  holds('without a connection a page goes back to its place, and a notice says so', places.join(' ') === 'Cherry Banana Apple Date');
  holds('and nothing is moved', await order() === 'Cherry(Banana) Apple Date');
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

/** Holds the requests of a kind until `go`; then each is sent, or answered by `refuse`. */
async function hold(page, method, ending) {
  const waiting = [];
  const end = (url) => url.pathname.endsWith(ending);
  const held = (route) => (route.request().method() === method ? waiting.push(route) : route.fallback());
  await page.route(end, held);
  const begun = (count = 1) => until(() => waiting.length >= count);
  const next = async () => { await begun(); return waiting.shift(); };
  return {
    begun,
    go: async () => (await next()).continue(),
    refuse: async (status, detail) => (await next()).fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify({ detail }) }),
    count: () => waiting.length,
    end: () => page.unroute(end, held),
  };
}

/** What the server has yet to do is seen at once; its refusal takes it back. */
async function before() {
  const { context, page } = await newPage();
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${pages.Banana}`);
  const row = (name) => page.getByRole('treeitem', { name, exact: true });
  await row('Banana').waitFor();
  await page.waitForTimeout(500);
  const shows = async (name, wanted) => {
    const now = async () => (await page.getByRole('treeitem').allInnerTexts()).join(' ');
    holds(name, await until(async () => await now() === wanted, now, 10_000));
  };
  const at = async (name, share) => {
    const box = await row(name).boundingBox();
    return [box.x + box.width / 2, box.y + box.height * share];
  };
  const drag = async (from, to, share) => {
    await page.mouse.move(...await at(from, 0.5));
    await page.mouse.down();
    await page.waitForTimeout(300);
    await page.mouse.move(...await at(to, share), { steps: 5 });
    await page.mouse.up();
  };
  const moves = await hold(page, 'POST', '/move');
  await drag('Apple', 'Date', 0.1);
  await drag('Banana', 'Apple', 0.1);
  await shows('a move is seen before the server has done it', 'Banana Apple Date Cherry');
  holds('which it has not yet', await order() === 'Date Cherry(Banana) Apple' && moves.count() === 1);
  const elm = await api('POST', `/spaces/${(await api('GET', `/nodes/${pages.Apple}`)).space_id}/nodes`, { title: 'Elm' });
  pages.Elm = elm.id;
  await shows('what somebody else does meanwhile is seen with it', 'Banana Apple Date Cherry Elm');
  await moves.go();
  await moves.go();
  await becomes('two quick moves are done in their order', 'Banana Apple Date Cherry Elm');
  await shows('and are seen as the server has them', 'Banana Apple Date Cherry Elm');
  await drag('Date', 'Elm', 0.5);
  await shows('a page is seen below another one', 'Banana Apple Cherry Elm Date');
  await moves.begun();
  await fetch(`${first}/api/v1/nodes/${pages.Elm}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  await shows('a page whose new parent is trashed meanwhile goes back', 'Banana Apple Date Cherry');
  await moves.go();
  await said(page, '“Date” is not moved: The page, or the one of its new place, is not there any more');
  holds('the refusal says why', await order() === 'Banana Apple Date Cherry');
  await moves.end();
  const edits = await hold(page, 'POST', '/edits');
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  await page.getByRole('textbox', { name: 'Title' }).fill('Blackberry');
  await shows('a title that is typed is seen in the tree', 'Blackberry Apple Date Cherry');
  await edits.refuse(422, 'No such title.');
  await shows('a title that is refused is not', 'Banana Apple Date Cherry');
  await page.locator('[role=alert]', { hasText: 'No such title.' }).waitFor();
  await edits.end();
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await shows('one that is sent again is', 'Blackberry Apple Date Cherry');
  holds('until the server has it', await until(async () => (await api('GET', `/nodes/${pages.Banana}`)).title === 'Blackberry'));
  await page.locator('[data-done]').click();
  const trashing = await hold(page, 'DELETE', pages.Apple);
  await row('Apple').click();
  await page.waitForURL(`**/${pages.Apple}*`);
  await page.getByRole('heading', { level: 1, name: 'Apple' }).waitFor();
  await page.waitForTimeout(500);
  await page.mouse.move(...await at('Date', 0.9), { steps: 5 });
  holds('a short press begins no drag', await page.locator('.tree.dragging').count() === 0);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Move to the trash' }).click();
  await shows('a page that goes to the trash leaves the tree at once', 'Blackberry Date Cherry');
  await trashing.refuse(403, 'Not this one.');
  await said(page, '“Apple” is not in the trash: You may not do this. Not this one.');
  await shows('and comes back if that is refused', 'Blackberry Apple Date Cherry');
  await trashing.end();
  const making = await hold(page, 'POST', '/nodes');
  await page.getByRole('button', { name: 'New page', exact: true }).click();
  await page.getByRole('dialog').getByLabel('Title').fill('Fig');
  await page.keyboard.press('Enter');
  await shows('a new page is in the tree at once', 'Blackberry Apple Date Cherry Fig');
  await making.refuse(422, 'The space is full.');
  await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'The space is full.' }).waitFor();
  await shows('and leaves it if it is refused', 'Blackberry Apple Date Cherry');
  await page.getByRole('button', { name: 'Create' }).click();
  await making.go();
  await page.waitForURL((url) => ![pages.Apple, pages.Banana].some((id) => url.pathname.includes(id)));
  await shows('one that is made stays', 'Blackberry Apple Date Cherry Fig');
  await context.close();
}

await judge(mouse, touch, before);
