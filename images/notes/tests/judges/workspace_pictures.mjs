// What the workspace does with pictures that are too large to be kept for reading offline. Prints a line for each
// scenario that holds. Arguments: the addresses of two replicas, and users, a token and ids as JSON.
import { ada, api, first, holds, judge, newPage, pages, signIn, token, until } from './workspace_tools.mjs';

const { album } = pages;
/** More than is kept of one picture. */
const BYTES = 12_000_000;

/** Stores a file of a page that says that it is a picture. */
async function stored() {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(BYTES).fill(7)], { type: 'image/png' }), 'large.png');
  const answer = await fetch(`${first}/api/v1/nodes/${album}/uploads`, { method: 'POST', body: form, headers: { authorization: `Bearer ${token}` } });
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()).id;
}

let version = 1;
async function save(markdown) {
  ({ version } = await api('PUT', `/nodes/${album}`, { base_version: version, markdown }));
}

async function large() {
  const id = await stored();
  await save(`![large](/api/v1/attachments/${id})\n`);
  const { context, page } = await newPage({}, 30_000);
  let asked = 0;
  const open = new Set();
  const isOfIt = (one) => one.resourceType() === 'fetch' && one.url().endsWith(id);
  page.on('request', (one) => { if (isOfIt(one)) { asked += 1; open.add(one); } });
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (one) => open.delete(one));
  await signIn(page, first, ada);
  await page.goto(`${first}/w/p/${album}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await until(async () => asked > 0);
  holds('the answer with a picture that is not kept is ended', await until(async () => !open.size, () => asked, 10_000));
  for (const words of ['one', 'two']) {
    await save(`![large](/api/v1/attachments/${id})\n\n${words}\n`);
    await page.locator('.prose', { hasText: words }).waitFor();
  }
  await page.waitForTimeout(1500);
  holds('it is fetched once', asked === 1);
  await context.close();
}

await judge(large);
