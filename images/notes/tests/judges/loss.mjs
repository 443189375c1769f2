// Rounds of the loss test: two people, each with a browser, write words into shared pages while the world fails.
// After each round everything heals: each word that a person saw accepted is in the page, or in that person's list
// of doubtful places; all browsers show what the server has. Argument: what loss.py knows, as JSON. To look for one
// cause, `LOSS_SOFT` and `LOSS_HARD` name the faults that happen, and `LOSS_MAKE` (0.35 to 1) has more pages made.
import { changesOf, crossedIn, wordsIn } from './loss_log.mjs';
import { given, pause, Person, seedOf, shown, state, wrong } from './loss_people.mjs';
import { act, api, blocks, blocksOrNone } from './loss_world.mjs';
import { commented, commentsOf, readIn, threadsShown } from './loss_comments.mjs';

const { fronts, people: users, home, rounds, seconds, seed } = given;
const begun = Date.now();
const after = () => Math.round((Date.now() - begun) / 1000);
const random = seedOf(seed);
const people = users.map((who, at) => new Person(['ada', 'bob'][at], who, fronts[at], at === 0));
let said = [];
const say = (what) => said.push(what);

/** Twice the time after which a tab looks for edits of tabs that are gone, and a lease of one of these. */
const MOST_MS = 80_000;

/** Words that people saw accepted, and words that somebody saw and deleted. */
let accepted = [];
let deleted = new Set();
/** Pages that people have made themselves: a failover may lose them with their words. */
let own = [];
let count = 0;
let [made, saved] = [0, 0];
const word = (person) => `${person.name[0]}q${count += 1}z`;

async function write(person, tab) {
  const words = [];
  const lines = tab.locator('.ProseMirror > p');
  const line = lines.nth(random.below(await lines.count()));
  await line.click({ timeout: 5000 });
  if (random.next() < 0.5) await tab.keyboard.press(random.one(['End', 'Home']));
  if (random.next() < 0.15) await tab.keyboard.press('Enter');
  for (let at = random.below(3); at >= 0; at -= 1) {
    const next = word(person);
    words.push(next);
    await tab.keyboard.type(` ${next} `, { delay: random.below(25) });
  }
  // How long this person looks at the screen before the next thing happens.
  const until = Date.now() + random.below(2500);
  for (;;) {
    const now = await state(tab);
    if (now === 'saved' || now === 'kept') {
      if (now === 'kept') await pause(250);
      const text = (await shown(tab)).join('\n');
      for (const word of words) if (text.includes(word)) accepted.push({ word, person, now });
      break;
    }
    if (Date.now() > until) break;
    await pause(60);
  }
}

/** Comments on a line; what the browser says is sent has to be there in the end. */
async function comment(person, tab) {
  const lines = tab.locator('.ProseMirror > p');
  const said = word(person);
  if (await commented(tab, lines.nth(random.below(await lines.count())), said)) {
    accepted.push({ word: said, person, now: 'comment' });
  }
}

/** Makes a page by the dialog, and writes there. */
async function make(person, tab) {
  await tab.goto(`${person.base}/w`);
  await tab.getByRole('heading', { level: 1 }).first().waitFor({ timeout: 8000 });
  await tab.keyboard.press('n');
  try {
    await tab.getByLabel('Title').fill(`Made by ${person.name}`, { timeout: 5000 });
    await tab.keyboard.press('Enter');
    await tab.locator('.ProseMirror > p').first().waitFor({ timeout: 8000 });
  } catch (error) {
    await tab.keyboard.press('Escape');
    throw error;
  }
  own.push(/[0-9a-f-]{36}/.exec(tab.url())[0]);
  made += 1;
  await write(person, tab);
}

/** Begins to edit another page without a network, and writes there. */
async function begin(person, tab, page) {
  await person.begin(page, tab);
  await write(person, tab);
}

/** Saves a text whose page is gone as a new page. */
async function save(tab) {
  const before = tab.url();
  await tab.getByRole('button', { name: 'Save as a new page' }).first().click({ timeout: 3000 });
  await tab.waitForURL((url) => url.href !== before, { timeout: 8000 });
  own.push(/[0-9a-f-]{36}/.exec(tab.url())[0]);
  saved += 1;
}

/** Deletes a line; what could be read there may go. */
async function remove(person, tab) {
  const lines = tab.locator('.ProseMirror > p');
  const line = lines.nth(random.below(await lines.count()));
  const wordsOf = async () => (await shown(tab)).join('\n').match(/[ab]q\d+z/g) ?? [];
  await line.click({ timeout: 5000 });
  await tab.keyboard.press('Home');
  await tab.keyboard.press('Shift+End');
  if (random.next() < 0.5) await tab.keyboard.press('Shift+ArrowDown');
  // At the key itself: no line goes in which this person can read a word, and what stands there is noted.
  await tab.evaluate(() => {
    if (window.hasRead) return;
    window.hasRead = true;
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Delete') return;
      // Somebody may have pressed Done meanwhile.
      window.read = document.querySelector('.ProseMirror')?.textContent ?? '';
      if (!/[ab]q\d/.test(String(getSelection()))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, true);
  });
  await tab.keyboard.press('Delete');
  const before = (await tab.evaluate(() => window.read)).match(/[ab]q\d+z/g) ?? [];
  const left = await wordsOf();
  for (const word of before) if (!left.includes(word)) deleted.add(word);
}

const faults = {
  'kill a replica': async () => { const at = random.below(2); await act('kill', { at }); return () => act('start', { at }); },
  'stop a replica': async () => { const at = random.below(2); await act('stop', { at }); return () => act('start', { at }); },
  'switch over': async () => act('switch'),
  'cut the power': async () => act('cut'),
  'lose transactions': async () => act('lose'),
  'expire a sign-in': async () => { await act('expire', { email: random.one(people).who.email }); },
  offline: async () => { await random.one(people).offline(true); },
  online: async () => { for (const person of people) await person.offline(false); },
  'close a tab': async () => { const tab = tabOf(random.one(people)); await tab?.close({ runBeforeUnload: false }); },
  'crash a tab': async () => {
    const tab = tabOf(random.one(people));
    if (!tab) return;
    const wire = await tab.context().newCDPSession(tab);
    // The answer never comes.
    void wire.send('Page.crash').catch(() => undefined);
    await pause(300);
    await tab.close().catch(() => undefined);
  },
  'reload a tab': async () => { await tabOf(random.one(people))?.reload({ waitUntil: 'commit' }); },
  done: async () => { await tabOf(random.one(people))?.getByRole('button', { name: 'Done' }).click({ timeout: 3000 }); },
  'kill a browser': async () => {
    const person = random.one(people);
    await person.kill();
    await person.start();
  },
  'lose an answer': async () => {
    const tab = tabOf(random.one(people));
    let left = 2;
    await tab?.route('**/edits', async (route) => {
      if ((left -= 1) < 0 || route.request().method() !== 'POST') { await route.continue().catch(() => undefined); return; }
      await route.fetch().catch(() => undefined);
      await route.abort().catch(() => undefined);
    });
  },
};
const heavy = ['switch over', 'cut the power', 'lose transactions', 'lose transactions'];
const tabOf = (person) => {
  person.tabs = person.tabs.filter((tab) => !tab.isClosed());
  return random.one(person.tabs);
};

async function storm(pages) {
  const mending = [];
  let isOver = false;
  const fault = async (name) => {
    say(name);
    try {
      const mend = await faults[name]();
      if (mend) mending.push(mend);
    } catch (error) {
      say(`(${String(error).split('\n')[0].slice(0, 90)})`);
    }
  };
  const isHeavy = !!process.env.LOSS_HARD || random.next() < 0.6;
  const hard = process.env.LOSS_HARD ?? random.one(heavy);
  if (isHeavy && hard === 'lose transactions') await act('forget');
  const works = people.map(async (person) => {
    for (let turn = 0; turn < 6 && !isOver; turn += 1) {
      const tab = tabOf(person);
      try {
        if (!tab || !await tab.locator('.ProseMirror').count()) {
          if (!person.isOffline) await Promise.race([person.edit(random.one(pages), tab), pause(8000)]);
          else if (tab) await begin(person, tab, random.one(pages));
        } else {
          const chance = random.next();
          if (chance < 0.2) await remove(person, tab);
          else if (chance < 0.35 && !person.isOffline) await comment(person, tab);
          else if (chance < (Number(process.env.LOSS_MAKE) || 0.42) && !person.isOffline) await make(person, tab);
          else if (chance < 0.35 && person.isOffline) await begin(person, tab, random.one(pages));
          else if (chance < 0.5 && !person.isOffline && await tab.locator('[data-lost-text]').count()) await save(tab);
          else await write(person, tab);
        }
        if (random.next() < 0.15 && !person.isOffline) await Promise.race([person.edit(random.one(pages)), pause(8000)]);
      } catch { await pause(300); }
    }
  });
  const soft = Object.keys(faults).filter((name) => !heavy.includes(name));
  const breaks = (async () => {
    for (let at = 1 + random.below(3); at > 0; at -= 1) {
      await pause(random.below(2500));
      await fault(process.env.LOSS_SOFT ?? random.one(soft));
    }
    if (isHeavy) {
      await pause(random.below(2000));
      await fault(hard);
    }
  })();
  await Promise.all([Promise.race([Promise.all(works), pause(45_000)]), breaks]);
  isOver = true;
  for (const mend of mending) await mend().catch((error) => wrong.push(String(error)));
  await act('heal');
  for (const person of people) await person.offline(false);
}

/** Waits until all browsers show what the server has and nothing is on its way; the last difference if never. */
async function settled(pages) {
  const looks = [];
  for (const person of people) {
    await person.opened();
    person.tabs = person.tabs.filter((tab) => !tab.isClosed());
    // Half of the tabs find out by themselves what has happened.
    for (const tab of person.tabs.slice(pages.length)) await tab.close();
    for (const [at, page] of pages.entries()) {
      const tab = person.tabs[at];
      const isThere = tab && tab.url().endsWith(page) && await tab.locator('.ProseMirror').count().catch(() => 0);
      if (isThere && random.next() < 0.5) looks.push({ person, page, tab });
      else looks.push({ person, page, tab: await person.edit(page, tab) });
    }
  }
  let last = 'nothing';
  for (const end = Date.now() + MOST_MS; Date.now() < end; await pause(500)) {
    last = await difference(looks).catch((error) => String(error).split('\n')[0]);
    if (!last) {
      // Still so a little later: nothing was on its way.
      await pause(700);
      last = await difference(looks).catch((error) => String(error).split('\n')[0]);
      if (!last) return '';
    }
    for (const look of looks) {
      const isOpen = await look.tab.locator('.ProseMirror').count().catch(() => 0);
      if (!isOpen) look.tab = await look.person.edit(look.page, look.tab.isClosed() ? undefined : look.tab);
    }
  }
  return last;
}

async function difference(looks) {
  for (const person of people) {
    const { drafts } = await person.lists();
    if (drafts.length) return `${person.name} has ${drafts.length} edits that are not sent: ${JSON.stringify(drafts.map(({ doc, ...more }) => more)).slice(0, 600)}`;
  }
  for (const { person, page, tab } of looks) {
    const [theirs, server] = [await shown(tab), await blocks(page)];
    if (theirs.join('|') !== server.join('|')) return `${person.name} sees ${theirs.join('|')}, the server has ${server.join('|')}`;
    const [seen, there] = [await threadsShown(tab), (await commentsOf(page)).length];
    if (seen !== there) return `${person.name} sees ${seen} comments, the server has ${there}; ${page}: ${await readIn(tab)}`;
  }
  return '';
}

/** What has become of the accepted words. Another tab may go on with what a tab left that was killed: soon. */
async function check(pages) {
  const start = Date.now();
  let found = await counted(pages);
  for (const end = start + MOST_MS; found.lost.length && Date.now() < end; found = await counted(pages)) await pause(2000);
  if (found.lost.length) {
    wrong.push(`lost: ${found.lost.join(', ')} of ${found.all}`);
    const words = found.lost.map((one) => one.split(' ')[0]);
    for (const page of pages) if (firsts.has(page)) wrong.push(...await changesOf(api, page, firsts.get(page), words));
    for (const page of own) wrong.push(`made by a person: ${page}: ${JSON.stringify(await api('GET', `/nodes/${page}/live`).catch(String))}`);
    await tellKept();
  }
  found.after = Math.round((Date.now() - start) / 1000);
  return found;
}

/** Adds what each browser has kept to what is wrong. */
async function tellKept() {
  for (const person of people) wrong.push(`${person.name} has stored: ${await person.kept()}`, `${person.name}'s requests that failed:\n${person.noted()}`);
}

async function counted(pages) {
  const text = [];
  for (const page of pages) text.push(...await blocksOrNone(page), ...await commentsOf(page));
  const all = text.join('\n');
  const there = wordsIn(all);
  const lists = new Map();
  for (const person of people) lists.set(person, (await person.lists()).doubts);
  const found = { there: 0, listed: 0, deleted: 0, lost: [] };
  for (const { word, person, now } of accepted) {
    if (there.has(word)) found.there += 1;
    else if (lists.get(person).includes(word)) found.listed += 1;
    else if (deleted.has(word)) found.deleted += 1;
    else found.lost.push(`${word} (${now})`);
  }
  const crossed = new Set(crossedIn(all, found.lost.map((one) => one.split(' ')[0])));
  found.there += crossed.size;
  found.lost = found.lost.filter((one) => !crossed.has(one.split(' ')[0]));
  const twice = accepted.filter(({ word }) => all.split(word).length > 2).length;
  return { ...found, twice, all };
}

for (const name of ['SIGTERM', 'SIGINT']) {
  process.on(name, () => {
    for (const { process: running } of people) {
      try { process.kill(-running.pid, 'SIGKILL'); } catch { /* it has ended */ }
    }
    process.exit(1);
  });
}
const total = { comments: 0, words: 0, listed: 0, deleted: 0, lost: 0, twice: 0, rounds: 0 };
let pages = [];
/** Of each page: what it was when it was made. */
const firsts = new Map();
let older = [];
for (const person of people) await person.start();
for (let round = 0; round < rounds && Date.now() - begun < seconds * 1000 && !wrong.length; round += 1) {
  if (round % 3 === 0) {
    // Until its person opens another page, a tab stays at the page before.
    older = pages;
    pages = [];
    for (let at = 0; at < 2; at += 1) {
      const markdown = Array.from({ length: 5 }, (_, line) => `filler ${line} of ${round}\n`).join('\n');
      pages.push((await api('POST', `/spaces/${home}/nodes`, { title: `Round ${round}`, markdown })).id);
      firsts.set(pages.at(-1), await api('GET', `/nodes/${pages.at(-1)}/live`));
    }
    [accepted, deleted, own] = [[], new Set(), []];
  }
  said = [];
  const before = accepted.length;
  try {
    for (const person of people) if (!tabOf(person)) await person.edit(random.one(pages));
    await storm(pages);
    const differs = await settled(pages);
    if (differs) {
      wrong.push(`not equal: ${differs}`);
      await tellKept();
    }
    const found = await check([...pages, ...older, ...own]);
    total.rounds += 1;
    total.words += accepted.length - before;
    total.lost += found.lost.length;
    total.comments += accepted.slice(before).filter((one) => one.now === 'comment').length;
    total.listed += found.listed;
    console.log(`round ${round} (${after()} s): ${said.join(', ')}: ${accepted.length - before} words, of ${accepted.length} `
      + `${found.there} there, ${found.listed} in lists, ${found.deleted} deleted by sight, ${found.twice} twice, ${found.lost.length} lost${found.after ? `, after ${found.after} s` : ''}`);
  } catch (error) {
    wrong.push(`round ${round} (${said.join(', ')}): ${error.stack}`);
  }
}
for (const person of people) await person.end().catch(() => undefined);
for (const one of wrong) console.log(`wrong: ${one}`);
console.log(`seed ${seed}: ${total.rounds} rounds, ${total.words} words accepted, ${total.lost} lost`);
console.log(`${total.comments} of them in comments; ${made} pages made by people, ${saved} saved from lost texts, `
  + `${people.reduce((all, one) => all + one.begun, 0)} begun to edit without a network`);
process.exit(wrong.length ? 1 : 0);
