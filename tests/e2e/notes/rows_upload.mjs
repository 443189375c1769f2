// §4: a file over 8 MB goes in chunks of up to 4 MB, one request for each, also over a reload in the middle.
import { createHash, randomBytes } from 'node:crypto';
import { ada, ask, edit, given, holds, person, until } from './edges.mjs';

const MB = 1024 * 1024;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** Picks a file by the menu of blocks. */
async function pick(page, text, name, bytes) {
  await text.press('Control+End');
  await text.pressSequentially(' /pict');
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), text.press('Enter')]);
  await chooser.setFiles({ name, mimeType: 'image/png', buffer: bytes });
}

/** The requests of uploads of a page from now on: the number of each chunk, or its kind, and how large it was. */
function watched(page) {
  const seen = [];
  page.on('requestfinished', async (one) => {
    const { pathname } = new URL(one.url());
    if (!/\/nodes\/[^/]+\/uploads/.test(pathname)) return;
    const { 'upload-chunk': chunk, 'content-type': type = '' } = one.headers();
    const found = { method: one.method(), chunk, isForm: type.startsWith('multipart/form-data') };
    seen.push(found);
    found.bytes = (await one.sizes()).requestBodySize;
    found.status = (await one.response())?.status();
  });
  return seen;
}
const numbers = (seen) => seen.filter((one) => one.chunk !== undefined && one.status < 300).map((one) => Number(one.chunk)).sort((a, b) => a - b);
const files = (page) => ask(page, 'GET', `/nodes/${given.upload}/attachments`);
const arrived = async (page, name) => until(async () => (await files(page)).some((one) => one.name === name && one.sha256),
  async () => JSON.stringify(await files(page)), 60_000);

export async function chunks() {
  const { context, page } = await person(0, ada, `/w/p/${given.upload}`);
  const large = randomBytes(18 * MB + 1);
  let most = 2;
  let lost = 0;
  await page.route('**/uploads', async (route) => {
    const number = route.request().headers()['upload-chunk'];
    if (number === undefined) return route.continue();
    // Before the reload two chunks get through, and the others hang; afterwards one is lost on its way.
    if (most === 0) return undefined;
    if (most !== Infinity) most -= 1;
    else if (number === '4' && lost === 0) { lost += 1; return route.abort('connectionreset'); }
    return route.continue();
  });
  const before = watched(page);
  const text = await edit(page);
  await pick(page, text, 'large.png', large);
  await until(() => numbers(before).length === 2, () => JSON.stringify(before));
  await page.locator('[data-saving=saved]').waitFor();
  const earlier = numbers(before);
  before.length = 0;
  most = Infinity;
  await page.reload();
  holds('after a reload in the middle the upload goes on by itself', await arrived(page, 'large.png'));
  const later = before;
  // The browser may tell of a request a little later than the server has it.
  const sent = () => [...earlier, ...numbers(later)].sort((a, b) => a - b).join();
  await until(() => sent() === '0,1,2,3,4' && later.every((one) => one.bytes !== undefined), sent, 20_000);
  holds('it asks first which chunks are there', later[0].method === 'GET');
  holds('each chunk is sent once, but for the one that was lost', sent() === '0,1,2,3,4' && lost === 1);
  const sizes = later.filter((one) => one.chunk !== undefined).map((one) => one.bytes);
  console.log(`chunks: ${JSON.stringify({ earlier, later: numbers(later), sizes })}`);
  holds('no chunk is larger than 4 MB', sizes.length >= 3 && sizes.every((bytes) => bytes > 0 && bytes <= 4 * MB));
  const [file] = (await files(page)).filter((one) => one.name === 'large.png');
  const [whole, part] = await page.evaluate(async (url) => {
    const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const all = await (await fetch(url)).arrayBuffer();
    const range = await fetch(url, { headers: { range: `bytes=${4 * 1024 * 1024 - 3}-${4 * 1024 * 1024 + 4}` } });
    return [hex(await crypto.subtle.digest('SHA-256', all)), `${range.status} ${hex(await range.arrayBuffer())}`];
  }, `/api/v1/attachments/${file.id}`);
  holds('every byte of it is there', whole === sha256(large) && file.sha256 === sha256(large) && file.size === large.length);
  holds('a range over the border of two chunks is read', part === `206 ${large.subarray(4 * MB - 3, 4 * MB + 5).toString('hex')}`);

  const again = watched(page);
  const open = await edit(page);
  await pick(page, open, 'small.png', randomBytes(8 * MB));
  await arrived(page, 'small.png');
  await until(() => again.some((one) => one.isForm));
  holds('a file of 8 MB goes in one form', again.filter((one) => one.isForm).length === 1 && numbers(again).length === 0);
  await pick(page, open, 'larger.png', randomBytes(8 * MB + 1));
  await arrived(page, 'larger.png');
  await until(() => numbers(again).length === 3);
  holds('one byte more goes in chunks', numbers(again).join() === '0,1,2' && again.filter((one) => one.isForm).length === 1);
  await context.close();
}
