// Pictures of other sites in a page that is written: none is loaded, each is offered to be kept here as a file. Prints
// a line for each scenario that holds. Arguments: the addresses of two replicas; people, a token and ids as JSON.
import { accessible, ada, api, docOf, edit, first, holds, isSaved, judge, newPage, pages, signIn, until } from './workspace_tools.mjs';

const { space_id: space } = await api('GET', `/nodes/${pages.home}`);
const make = async (title, markdown) => (await api('POST', `/spaces/${space}/nodes`, { title, markdown })).id;
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const file = { name: 'saved.png', mimeType: 'image/png', buffer: PNG };
const list = (page) => page.locator('details.foreign');
/** What the policy keeps out while one reads, or the browser looks at pasted HTML. */
const isExpected = (text) => /^Loading the image|^Executing inline event handler/.test(text);
const inDoc = (node) => (node.type === 'image' ? [node.attrs] : (node.content ?? []).flatMap(inDoc));
const pictures = async (id) => inDoc(await docOf(id));
const isHere = ({ src }) => src.startsWith('/api/v1/attachments/');

/** The requests that leave the site. */
function leaving(context) {
  const found = [];
  context.on('request', (one) => { if (!/^(http:\/\/(127\.0\.0\.1|localhost)|data:|blob:|about:|chrome)/.test(one.url())) found.push(one.url()); });
  return found;
}

async function choose(page, name) {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name }).press('Enter')]);
  return chooser;
}

async function kept() {
  const id = await make('Pictures', '![chart](https://pictures.example/chart.png "A hint") and ![](https://pictures.example/other.png)\n');
  const { context, page } = await newPage({}, 60_000, isExpected);
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${id}`);
  await edit(page);
  const left = leaving(context);
  const summary = list(page).locator('summary');
  await summary.waitFor();
  holds('pictures of other sites are named above the text', (await summary.innerText()) === '2 pictures of other sites are not shown');
  await summary.focus();
  await page.keyboard.press('Enter');
  const link = list(page).getByRole('link', { name: 'https://pictures.example/chart.png' });
  holds('each with its address', await link.getAttribute('rel') === 'noopener noreferrer' && await link.getAttribute('target') === '_blank');
  await accessible(page, 'pictures of other sites, light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'pictures of other sites, dark');
  await page.setViewportSize({ width: 320, height: 640 });
  holds('it fits on a phone', await list(page).evaluate((one) => one.scrollWidth <= one.clientWidth && document.documentElement.scrollWidth <= innerWidth));
  await accessible(page, 'pictures of other sites, on a phone');
  await page.setViewportSize({ width: 1280, height: 800 });
  await (await choose(page, 'Choose the file: chart')).setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('words') });
  holds('a file that is no picture is refused', await until(async () => await page.getByText('a.txt is no picture').count() === 1));
  // The network fails meanwhile: the address stays until the file is there.
  await context.setOffline(true);
  await (await choose(page, 'Choose the file: chart')).setFiles(file);
  await page.waitForTimeout(800);
  holds('the address stays while the file is on its way', await list(page).locator('li').count() === 2);
  await context.setOffline(false);
  holds('the file takes the place of the address', await until(async () => {
    const [one, other, ...more] = await pictures(id);
    return isHere(one) && one.alt === 'chart' && one.title === 'A hint' && other.src === 'https://pictures.example/other.png' && !more.length;
  }, async () => JSON.stringify(await pictures(id))));
  holds('and is in the list no more', await until(async () => (await summary.innerText()) === '1 picture of another site is not shown', () => list(page).innerText()));
  await page.getByRole('button', { name: 'Show in the text: https://pictures.example/other.png' }).press('Enter');
  await page.keyboard.press('Delete');
  holds('a picture that is shown is selected, and can be deleted', await until(async () => (await pictures(id)).length === 1 && await list(page).count() === 0,
    async () => JSON.stringify(await pictures(id))));
  holds('nothing was asked of another site', left.length === 0 ? true : (console.log(left), false));
  await isSaved(page);
  await context.close();
}

async function pasted() {
  const id = await make('Pasted', 'words\n');
  const { context, page } = await newPage({ locale: 'de-DE' }, 60_000, isExpected);
  const left = leaving(context);
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${id}`);
  await page.getByRole('button', { name: 'Bearbeiten', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text der Seite' });
  await text.locator('p').first().click();
  await page.keyboard.press('End');
  await text.evaluate((box, data) => {
    const given = new DataTransfer();
    given.setData('text/html', `<p>pasted <img src="https://a.example/x.png" alt="x"><img src="//b.example/y.png" onerror="alert(1)">`
      + `<img src="javascript:alert(1)"><img src="http://127.0.0.1:1/internal"><img alt="in" src="data:image/png;base64,${data}">`
      + `<img src="data:image/svg+xml;base64,PHN2Zz4="><img src="data:text/html;base64,PGI+"></p>`);
    given.setData('text/plain', 'pasted');
    box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: given, bubbles: true, cancelable: true }));
  }, PNG.toString('base64'));
  holds('a picture that is in pasted HTML is uploaded', await until(async () => (await pictures(id)).filter(isHere).length === 1,
    async () => JSON.stringify(await pictures(id))));
  const foreign = async () => (await pictures(id)).filter((one) => !isHere(one)).map(({ src }) => src).join(' ');
  holds('addresses are listed, in German; what could run is not there', await until(async () => await foreign() === 'https://a.example/x.png //b.example/y.png http://127.0.0.1:1/internal', foreign)
    && (await list(page).locator('summary').innerText()) === '3 Bilder anderer Websites werden nicht angezeigt');
  await page.waitForTimeout(500);
  holds('and nothing was asked there', left.length === 0 ? true : (console.log(left), false));
  holds('only addresses of the web are links', await list(page).getByRole('link', { includeHidden: true }).count() === 2);
  await context.close();
}

await judge(kept, pasted);
