// The people of loss.mjs: each has a browser of their own, a process that can be killed and keeps its store.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { lostTexts } from './loss_log.mjs';

export const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
export const wrong = [];

/** Runs in the page: what this browser has stored of some kinds. */
export const storedIn = (names) => new Promise((done, failed) => {
  const opening = indexedDB.open('notes');
  opening.onerror = () => failed(opening.error);
  opening.onsuccess = () => {
    const db = opening.result;
    const found = {};
    if (!names.every((name) => db.objectStoreNames.contains(name))) { db.close(); done({}); return; }
    const work = db.transaction(names);
    for (const name of names) work.objectStore(name).getAll().onsuccess = (one) => { found[name] = one.target.result; };
    work.oncomplete = () => { db.close(); done(found); };
  };
});

export class Person {
  constructor(name, who, base, hasLocks) {
    Object.assign(this, { name, who, base, hasLocks, tabs: [], notes: [], begun: 0, isOffline: false, opening: new Set() });
    this.home = mkdtempSync(join(tmpdir(), `notes-loss-${name}-`));
  }

  async start() {
    this.process = spawn('/usr/bin/chromium', ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic',
      '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--remote-debugging-port=0', `--user-data-dir=${this.home}`, 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    const address = await new Promise((found, failed) => {
      let said = '';
      this.process.stderr.on('data', (data) => {
        said += data;
        const one = /DevTools listening on (ws:\S+)/.exec(said);
        if (one) found(one[1]);
      });
      this.process.on('exit', () => failed(new Error(`the browser ended: ${said.slice(-500)}`)));
    });
    this.browser = await chromium.connectOverCDP(address);
    [this.context] = this.browser.contexts();
    this.context.setDefaultTimeout(40_000);
    if (!this.hasLocks) await this.context.addInitScript(() => { Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }); });
    this.tabs = [];
    this.isOffline = false;
  }

  /** Kills the browser with all its processes; its store stays. */
  async kill() {
    const ended = new Promise((done) => { this.process.on('exit', done); });
    try { process.kill(-this.process.pid, 'SIGKILL'); } catch { /* it has ended */ }
    await ended;
    await this.browser.close().catch(() => undefined);
    this.tabs = [];
  }

  async end() {
    await this.kill();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  async offline(isOffline) {
    this.isOffline = isOffline;
    await this.context.setOffline(isOffline);
  }

  /** A tab at a page with its editor open; signs in first where the site wants it. Who does not wait for it awaits `opened`. */
  async edit(id, tab = undefined) {
    const opening = this.#edit(id, tab);
    this.opening.add(opening);
    try { return await opening; } finally { this.opening.delete(opening); }
  }

  /** Waits for the editors that are still being opened: each would take its tab to its own page later. */
  async opened() {
    await Promise.allSettled(this.opening);
  }

  async #edit(id, tab) {
    let found = tab;
    if (!found) {
      found = await this.context.newPage();
      found.on('pageerror', (error) => wrong.push(`${this.name}: ${error}`));
      found.on('dialog', (dialog) => dialog.accept().catch(() => undefined));
      found.on('response', (one) => one.status() >= 400 && this.#note(one.request(), one.status()));
      found.on('requestfailed', (one) => this.#note(one, one.failure()?.errorText));
      found.on('console', (one) => one.type() === 'error' && this.#note(undefined, one.text()));
      this.tabs.push(found);
    }
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.#open(found, id);
        return found;
      } catch (error) {
        if (attempt === 5) throw error;
        await pause(1000);
      }
    }
  }

  async #open(tab, id) {
    await tab.goto(`${this.base}/w/p/${id}`);
    const text = tab.getByRole('textbox', { name: 'Text of the page' });
    const edit = tab.getByRole('button', { name: 'Edit', exact: true }).first();
    const field = tab.locator('input[name=password]');
    const again = tab.getByRole('link', { name: 'Sign in' });
    await text.or(edit).or(field).or(again).first().waitFor({ timeout: 20_000 }).catch(async (error) => { throw new Error(`${error.message.split("\n")[0]} ${tab.url()} ${(await tab.locator("body").innerText()).slice(0, 300)}`); });
    if (await again.count()) await tab.goto(`${this.base}/login?return_to=/w/p/${id}`);
    if (await field.count()) {
      await tab.fill('input[name=email]', this.who.email);
      await tab.fill('input[name=password]', this.who.password);
      await tab.click('form[action="/login"] button');
      await tab.waitForURL(`${this.base}/**`);
      await tab.goto(`${this.base}/w/p/${id}`);
    }
    if (!await text.count()) await edit.click({ timeout: 15_000 });
    await text.waitFor({ timeout: 15_000 }).catch(async (error) => {
      const seen = (await tab.locator('body').innerText()).slice(0, 600);
      throw new Error(`${error.message.split('\n')[0]} ${tab.url()} ${seen}\n${this.noted()}`);
    });
  }

  /** Begins to edit a page that the browser has stored, without a network; fails soon with one that it has not. */
  async begin(id, tab) {
    await tab.goto(`${this.base}/w/p/${id}`, { timeout: 5000 });
    await tab.getByRole('button', { name: 'Edit', exact: true }).first().click({ timeout: 3000 });
    await tab.getByRole('textbox', { name: 'Text of the page' }).waitFor({ timeout: 5000 });
    this.begun += 1;
  }

  #note(request, what) {
    this.notes = [...this.notes.slice(-40), `${new Date().toISOString().slice(11, 23)} ${request?.method() ?? ''} ${request?.url().slice(0, 120) ?? ''} ${what}`];
  }

  /** The last requests of this person that were refused or failed, for who looks for a cause. */
  noted() {
    return this.notes.join('\n');
  }

  /** All that this person's browser has kept of edits and requests, for who looks for what is lost. */
  async kept() {
    return JSON.stringify(await this.#stored(['drafts', 'remembered', 'accepted', 'doubts', 'requests']));
  }

  async #stored(names) {
    const tab = this.tabs[0] ?? await this.context.newPage();
    return tab.evaluate(storedIn, names);
  }

  /** What stands in this person's lists: doubtful places, texts and comments that are lost; and edits that are not sent. */
  async lists() {
    const found = await this.#stored(['drafts', 'bases', 'doubts', 'requests']);
    const { drafts = [], doubts = [], requests = [] } = found;
    const comments = requests.filter((one) => one.doubt).map((one) => one.body);
    const listed = [JSON.stringify(doubts), ...lostTexts(found), ...comments].join('\n');
    return { drafts: drafts.filter((one) => !one.lost), doubts: listed };
  }
}

/** The text of an editor, block by block, without the carets of others. */
export const shown = (tab) => tab.evaluate(() => {
  const copy = document.querySelector('.ProseMirror').cloneNode(true);
  for (const one of copy.querySelectorAll('.caret, .ProseMirror-widget, .ProseMirror-trailingBreak')) one.remove();
  return [...copy.children].map((one) => one.textContent);
});
export const state = (tab) => tab.evaluate(() => document.querySelector('[data-saving]')?.dataset.saving ?? '');
export const seedOf = (seed) => {
  // mulberry32
  let now = seed >>> 0;
  const next = () => {
    now = (now + 0x6d2b79f5) >>> 0;
    let t = Math.imul(now ^ (now >>> 15), 1 | now);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return { next, below: (n) => Math.floor(next() * n), one: (list) => list[Math.floor(next() * list.length)] };
};
export const given = JSON.parse(process.argv[2] ?? readFileSync(0, 'utf8'));
