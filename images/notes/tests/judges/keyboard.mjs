// Walks each screen by the keyboard alone, and prints a line for each on which every control is reached, has a visible
// focus, and lets the focus go on. Arguments: address, a person's sign-in (JSON), the screens as JSON.
import { holds, judge, launched, newPage, wrong } from './chromium.mjs';
import { show, signIn } from './screen_acts.mjs';

const [base, person, given] = process.argv.slice(2);
const browser = await launched('--host-resolver-rules=MAP *.example.org 127.0.0.1');

/** Runs in the page: numbers the controls that can be seen, and says for each how it is reached. */
function number() {
  const CONTROLS = 'a[href], button, input, select, textarea, summary, iframe, audio[controls], video[controls], [contenteditable=true],'
    + ' [tabindex], [role=button], [role=option], [role=menuitem], [role=menuitemradio], [role=menuitemcheckbox], [role=treeitem], [role=tab]';
  /** What has one place in the order of Tab, and arrow keys inside. */
  const GROUPS = '[role=tree], [role=menu], [role=listbox], [role=toolbar], [role=tablist], [role=grid]';
  const modal = [...document.querySelectorAll('dialog[open]')].filter((one) => one.matches(':modal')).at(-1);
  const menu = [...document.querySelectorAll('[role=menu]')].find((one) => one.getClientRects().length);
  const root = menu ?? modal ?? document.body;
  // A summary opens its part by itself; what is in it is walked as well.
  for (const one of root.querySelectorAll('details:not([open])')) one.open = true;
  const look = (one) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, borderWidth, backgroundColor, textDecoration, color } = getComputedStyle(one);
    return JSON.stringify([outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, borderWidth, backgroundColor, textDecoration, color]);
  };
  const name = (one) => `${one.localName}${one.id ? `#${one.id}` : ''}${one.getAttribute('role') ? `[${one.getAttribute('role')}]` : ''} “${
    (one.getAttribute('aria-label') ?? one.title ?? '') || (one.textContent ?? '').trim().slice(0, 40) || one.name || ''}”`;
  const controls = [];
  for (const one of root.querySelectorAll(CONTROLS)) {
    const style = getComputedStyle(one);
    if (one.closest('[inert], [hidden], [aria-hidden=true]') || style.visibility === 'hidden' || !one.getClientRects().length) continue;
    if (one.parentElement?.closest('[contenteditable=true]')) continue;
    if (one.matches(':disabled, [aria-disabled=true], input[type=hidden]')) continue;
    const isNative = one.matches('a[href], button, input, select, textarea, summary, iframe, [contenteditable=true]');
    const role = one.getAttribute('role');
    // A heading or part that only scripts focus, and an element that merely scrolls, are no controls.
    if (one.tabIndex < 0 && !isNative && !role) continue;
    const group = one.parentElement?.closest(GROUPS);
    const radio = one.type === 'radio' ? `${one.form?.id}${one.name}` : '';
    controls.push({ one, name: name(one), before: look(one), parent: look(one.parentElement ?? one), group, radio, isTab: one.tabIndex >= 0 });
  }
  const groups = [...new Set(controls.map(({ group }) => group).filter(Boolean))];
  const reached = new Set();
  const blind = new Set();
  const isSeen = ({ one, before, parent }) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    // In a text the caret shows where one is.
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || one.matches('[contenteditable=true], textarea, input:not([type=checkbox], [type=radio], [type=file], [type=range], [type=color])')
      || look(one) !== before || look(one.parentElement) !== parent;
  };
  const note = (event) => {
    const active = document.activeElement;
    const chosen = active?.getAttribute?.('aria-activedescendant');
    for (const [at, control] of controls.entries()) {
      if (event && control.one === active && !isSeen(control)) blind.add(at);
      if (control.one === active || (chosen && control.one.id === chosen)) reached.add(at);
    }
  };
  if (globalThis.walk) removeEventListener('keyup', globalThis.walk.note, true);
  // After a key, the focus is where the key has led.
  addEventListener('keyup', note, true);
  note();
  globalThis.walk = { controls, groups, reached, blind, note };
  return { count: controls.length, groups: groups.length, isMenu: Boolean(menu) };
}

/**
 * Runs in the page: the controls that were not reached. One of the radio buttons of a group is enough: arrows do the
 * rest. What is disabled by now, as the network went after the numbering, is not meant.
 */
function left(isTabAlone) {
  const { controls, reached } = globalThis.walk;
  const radios = new Set([...reached].map((at) => controls[at].radio).filter(Boolean));
  return controls.filter(({ one, radio, isTab, group }, at) => !reached.has(at) && !(radio && radios.has(radio))
    && one.isConnected && one.getClientRects().length && !one.matches(':disabled, [aria-disabled=true]') && !(isTabAlone && (group || !isTab)))
    .map(({ name, isTab }) => `${name}${isTab ? '' : ' (no place in the order of Tab)'}`);
}

/** Runs in the page: goes back to where Tab had come into a group; false if it never did. */
function enter(n) {
  const { controls, groups, reached } = globalThis.walk;
  const group = groups[n];
  const stop = controls.find(({ one, group: own }, at) => reached.has(at) && (own === group || (group.id && one.getAttribute('aria-controls') === group.id)));
  if (!stop?.one.isConnected) return false;
  stop.one.focus();
  return true;
}

const focusOf = (page) => page.evaluate(() => {
  const one = document.activeElement;
  return !one || one === document.body ? '' : `${globalThis.walk.controls.findIndex((control) => control.one === one)} ${one.localName}#${one.id}.${one.className} ${one.textContent.trim().slice(0, 30)}`;
});

async function arrows(page, count) {
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown']) {
    for (let press = 0; press < count; press += 1) await page.keyboard.press(key);
    if (key !== 'ArrowDown') await page.keyboard.press('Home');
    if (!(await page.evaluate(left, false)).length) return;
  }
}

/** Walks the screen that is shown; what is wrong with it. */
async function walked(page) {
  const { count, groups, isMenu } = await page.evaluate(number);
  const found = [];
  if (isMenu) await arrows(page, count);
  else {
    let last;
    for (let press = 0; press < 2 * count + 20 && found.length < 3; press += 1) {
      await page.keyboard.press('Tab');
      if (press % 5 < 4) continue;
      if (!(await page.evaluate(left, true)).length) break;
      // Two looks at one place, after five keys each: only what keeps the focus is there.
      const is = await focusOf(page);
      if (is && is === last && count > 5) {
        found.push(`keeps the focus: ${is}`);
        // A text in which Tab has a meaning of its own lets go after Escape.
        await page.keyboard.press('Escape');
      }
      last = is;
    }
    for (let n = 0; n < groups; n += 1) if (await page.evaluate(enter, n)) await arrows(page, Math.min(count, 40));
  }
  for (const one of await page.evaluate(left, false)) found.push(`is not reached: ${one}`);
  const names = await page.evaluate(() => [...globalThis.walk.blind].map((at) => globalThis.walk.controls[at].name));
  for (const one of names) found.push(`has no visible focus: ${one}`);
  return [...new Set(found)];
}

async function each() {
  const people = {};
  for (const screen of JSON.parse(given)) {
    const kind = `${screen.isPublic} ${screen.isNarrow}`;
    const viewport = screen.isNarrow ? { width: 320, height: 640 } : { width: 1280, height: 800 };
    people[kind] ??= await newPage({ viewport, reducedMotion: 'reduce' }, 30_000, () => false, browser)
      .then(async (made) => { if (!screen.isPublic) await signIn(made.context, base, person); return made; });
    const { context, page } = people[kind];
    const before = wrong.length;
    try {
      await show(page, base, screen);
      await page.waitForTimeout(300);
      for (const one of await walked(page)) wrong.push(`${screen.name}: ${one}`);
    } catch (error) {
      wrong.push(`${screen.name}: ${error.message.split('\n')[0]}`);
    }
    holds(`is used by the keyboard: ${screen.name}`, wrong.length === before);
    await context.setOffline(false);
  }
}

/** That the walk finds each kind of fault, and nothing else. */
async function finds() {
  const { context, page } = await newPage({ bypassCSP: true }, 30_000, () => false, browser);
  const FAULTS = {
    'is not reached': '<a href="/x">x</a><button tabindex="-1">y</button>',
    'has no visible focus': '<a href="/x">x</a><button style="outline: none; border: 0">y</button>',
    'keeps the focus': `<a href="/x">x</a><button id="t">y</button>${'<a href="/z">z</a>'.repeat(6)}`,
  };
  for (const [kind, html] of Object.entries(FAULTS)) {
    await page.setContent(`<main>${html}</main>`);
    await page.evaluate(() => document.getElementById('t')?.addEventListener('keydown', (event) => event.preventDefault()));
    holds(`finds what ${kind}`, (await walked(page)).some((one) => one.startsWith(kind)));
  }
  await page.setContent('<main><a href="/x">x</a><div role="toolbar"><button id="a">1</button><button id="b" tabindex="-1">2</button></div></main>');
  await page.evaluate(() => document.querySelector('[role=toolbar]').addEventListener('keydown', ({ key }) => {
    if (key === 'ArrowRight') document.getElementById('b').focus();
    if (key === 'Home') document.getElementById('a').focus();
  }));
  holds('finds nothing else', (await walked(page)).length === 0);
  await context.close();
}

await judge(finds, each);
