// Lets Lighthouse (a phone) judge screens, and Chromium say whether the workspace can be installed.
// Arguments: the address of a replica; JSON: cookie, screens, categories, runs, installable (paths).
// Prints a line of JSON for each run of each screen, and for each path that is to be installable.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import lighthouse from 'lighthouse';
import { chromium } from 'playwright-core';

const [base, given] = process.argv.slice(2);
const { cookie, screens, categories, runs = 1, installable = [] } = JSON.parse(given);
const tell = (found) => console.log(JSON.stringify(found));
const METRICS = {
  paint: 'first-contentful-paint', largest: 'largest-contentful-paint',
  blocking: 'total-blocking-time', shift: 'cumulative-layout-shift', index: 'speed-index',
};

const freePort = () => new Promise((done) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** What an audit that is not passed says, short enough for a test's message. */
function complaint({ id, score, title, displayValue, details }) {
  const items = JSON.stringify(details?.items ?? []).slice(0, 1500);
  return { id, score, title, displayValue, items };
}

async function judge(screen, port) {
  const result = await lighthouse(`${base}${screen.path}`, {
    port, output: 'json', logLevel: 'error', onlyCategories: categories, maxWaitForLoad: 90_000,
  });
  const { lhr } = result;
  const inCategories = Object.values(lhr.categories).flatMap(({ auditRefs }) => auditRefs);
  const counted = new Set(inCategories.filter(({ weight }) => weight > 0).map(({ id }) => id));
  const audits = [...counted].map((id) => lhr.audits[id]);
  tell({
    screen: screen.name,
    address: lhr.finalDisplayedUrl.slice(base.length),
    version: lhr.lighthouseVersion,
    error: lhr.runtimeError?.message ?? '',
    scores: Object.fromEntries(Object.entries(lhr.categories).map(([id, { score }]) => [id, score === null ? null : Math.round(score * 100)])),
    metrics: Object.fromEntries(Object.entries(METRICS).map(([name, id]) => [name, lhr.audits[id]?.numericValue])),
    passed: audits.filter(({ score }) => score === 1).length,
    failed: audits.filter(({ score }) => score !== null && score < 1).map(complaint),
  });
}

/** Chromium's own reasons against an installation, and what it read in the manifest. */
async function installation(context, path) {
  const page = await context.newPage();
  await page.goto(`${base}${path}`);
  const session = await context.newCDPSession(page);
  const { errors, data } = await session.send('Page.getAppManifest');
  const { installabilityErrors } = await session.send('Page.getInstallabilityErrors');
  tell({ installable: path, manifest: data ?? '', manifestErrors: errors, errors: installabilityErrors });
  await page.close();
}

const folder = mkdtempSync(join(tmpdir(), 'notes-lighthouse-'));
try {
  const port = await freePort();
  // A profile, since Chromium installs nothing from a private window.
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', `--remote-debugging-port=${port}`,
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const become = async (isPublic) => {
    await context.clearCookies();
    if (!isPublic) await context.addCookies([{ name: 'notes', value: cookie, url: base }]);
  };
  for (const screen of screens) {
    await become(screen.isPublic);
    for (let run = 0; run < runs; run += 1) await judge(screen, port);
  }
  for (const path of installable) {
    await become(false);
    await installation(context, path);
  }
  await context.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
