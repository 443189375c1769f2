// Measures the workspace's editor and editors of other projects, one after the other at each size of page.
// bench/stacks.py runs it. Arguments: the address of a replica; JSON: ada, pages, documents (by number of
// blocks), pagesFolder (the built pages of editors), parts. Prints a line of JSON for each run.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { chromium } from 'playwright-core';
import { OPTIONS, editing, opened, ready, signIn } from './editor_figures.mjs';

const [base, given] = process.argv.slice(2);
const { ada, pages, documents, pagesFolder, parts } = JSON.parse(await readFile(given, 'utf8'));
const OTHERS = ['prosemirror', 'tiptap', 'blocknote'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
const updates = new Map();

/** Serves the built pages, the documents, and the updates that were made of them. */
async function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const [, folder, name = ''] = pathname.split('/');
  const send = (type, bytes) => response.writeHead(200, { 'content-type': type }).end(bytes);
  try {
    if (folder === 'updates') send('application/octet-stream', updates.get(name));
    else if (folder === 'documents') send(TYPES['.json'], JSON.stringify(documents[name.replace('.json', '')]));
    else send(TYPES[extname(folder)], await readFile(join(pagesFolder, folder)));
  } catch {
    response.writeHead(404).end();
  }
}

const server = createServer(answer);
await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
const site = `http://127.0.0.1:${server.address().port}`;

/** Stores the update of Yjs that a server of this editor would have for the document. */
async function make(browser, editor, blocks) {
  const name = `${editor}-${blocks}`;
  if (updates.has(name)) return name;
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  await page.goto(`${site}/${editor}.html?blocks=${blocks}`);
  const text = await page.evaluate(async () => {
    const bytes = await globalThis.make();
    let found = '';
    for (let at = 0; at < bytes.length; at += 8192) found += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(found);
  });
  updates.set(name, Buffer.from(text, 'base64'));
  await context.close();
  return name;
}

async function measure(browser, editor, blocks, rate) {
  const isOurs = editor === 'workspace';
  const name = isOurs ? '' : await make(browser, editor, blocks);
  const { context, page, session } = await opened(browser, rate, isOurs ? (one) => signIn(one, base, ada) : async () => {});
  try {
    if (isOurs) await ready(page, `${base}/w/p/${pages[blocks]}`);
    else await page.goto(`${site}/${editor}.html?update=${name}`);
    const found = await editing(page, session, { isLarge: true });
    console.log(JSON.stringify({ editor, blocks: Number(blocks), rate, ...found, stored: updates.get(name)?.length ?? 0 }));
  } finally {
    await context.close();
  }
}

const browser = await chromium.launch(OPTIONS);
for (const blocks of Object.keys(documents)) {
  for (const rate of [1, 4]) {
    const part = `${blocks}${rate > 1 ? `x${rate}` : ''}`;
    if (parts && !parts.split(' ').includes(part)) continue;
    for (const editor of ['workspace', ...OTHERS]) await measure(browser, editor, blocks, rate);
  }
}
await browser.close();
server.close();
