// Shows each screen on a phone of 320 pixels, or with text of twice the size, each in forced colours too, and prints a
// line for each on which nothing is lost: nothing is wider than the window, cut off, or found wrong by axe.
// Arguments: address, a person's sign-in (JSON), `phone` or `large`, and the screens as JSON.
import { accessible, holds, judge, launched, newPage, wrong } from './chromium.mjs';
import { show, signIn } from './screen_acts.mjs';

const [base, person, look, given] = process.argv.slice(2);
const LOOKS = {
  phone: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true },
  large: { viewport: { width: 1280, height: 800 } },
};
const MAPPED = '--host-resolver-rules=MAP *.example.org 127.0.0.1';
/** A person who has set the browser's text to twice the usual size, of 16 pixels. */
const browser = await launched(MAPPED, ...look === 'large' ? ['--blink-settings=defaultFontSize=32,defaultFixedFontSize=26'] : []);

/** Runs in the page: what is lost of it in this window. */
function lost() {
  const found = [];
  const name = (one) => `${one.localName}${one.id ? `#${one.id}` : ''}.${one.classList} “${(one.textContent ?? '').trim().slice(0, 40)}”`;
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth - innerWidth} pixels too wide`);
  // Code and tables may be moved to and fro, and so may a toolbar: these need two dimensions (WCAG 1.4.10).
  const mayScroll = (one) => one.matches('[role=toolbar]') || one.closest('pre, table') || one.querySelector(':scope > table, :scope > pre, :scope > code');
  const isUnseen = (one) => one.closest('.unseen, [inert], [hidden], svg, .skip, select') || one.clientWidth <= 1;
  for (const one of document.body.querySelectorAll('*')) {
    if (isUnseen(one)) continue;
    const style = getComputedStyle(one);
    if (style.visibility === 'hidden' || !one.getClientRects().length) continue;
    const isWider = one.scrollWidth > one.clientWidth + 1 && style.display !== 'inline';
    const isField = one.matches('input, textarea');
    if (isWider && /auto|scroll/.test(style.overflowX) && !mayScroll(one) && !isField) found.push(`scrolls sideways: ${name(one)}`);
    if (isWider && /hidden|clip/.test(style.overflowX) && style.textOverflow !== 'ellipsis' && !mayScroll(one) && !isField) found.push(`is cut at its side: ${name(one)}`);
    const isText = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const isClamped = style.webkitLineClamp !== 'none';
    if (isText && /hidden|clip/.test(style.overflowY) && one.scrollHeight > one.clientHeight + 2 && !isClamped && style.textOverflow !== 'ellipsis') found.push(`is cut below: ${name(one)}`);
    const box = one.getBoundingClientRect();
    const isMoved = (() => {
      for (let above = one.parentElement; above; above = above.parentElement) if (/auto|scroll/.test(getComputedStyle(above).overflowX) && above.scrollWidth > above.clientWidth + 1) return true;
      return false;
    })();
    if (isText && !isMoved && (box.right > innerWidth + 1 || box.left < -1) && box.width > 0) found.push(`is beside the window: ${name(one)}`);
  }
  return [...new Set(found)];
}

/** What is lost once the screen is complete: a list that opens may have its place a moment later. */
async function lostAtRest(page) {
  let found;
  for (const end = Date.now() + 3000; Date.now() < end; await page.waitForTimeout(200)) {
    found = await page.evaluate(lost);
    if (!found.length) break;
  }
  return found;
}

const sizeOf = (page) => page.evaluate(() => parseFloat(getComputedStyle(document.querySelector('main p, main label, main li, main h1, main') ?? document.body).fontSize));

async function each() {
  const people = {};
  for (const screen of JSON.parse(given)) {
    const kind = screen.isPublic ? 'guest' : 'member';
    people[kind] ??= await newPage({ ...LOOKS[look], bypassCSP: true, reducedMotion: 'reduce' }, 30_000, () => false, browser)
      .then(async (made) => { if (kind === 'member') await signIn(made.context, base, person); return made; });
    const { context, page } = people[kind];
    await page.emulateMedia({ forcedColors: 'none' });
    const before = wrong.length;
    try {
      await show(page, base, screen);
      for (const one of await lostAtRest(page)) wrong.push(`${look}, ${screen.name}: ${one}`);
      if (look === 'large' && await sizeOf(page) < 25) wrong.push(`${screen.name}: the text is no larger`);
      await page.emulateMedia({ forcedColors: 'active' });
      await accessible(page, `${look}, forced colours, ${screen.name}`);
    } catch (error) {
      wrong.push(`${look}, ${screen.name}: ${error.message.split('\n')[0]}`);
    }
    holds(`nothing is lost: ${screen.name}`, wrong.length === before);
    await context.setOffline(false);
  }
}

/** That the looks above find each kind of loss; runs in the same windows. */
async function finds() {
  const { context, page } = await newPage({ ...LOOKS[look], bypassCSP: true }, 30_000, () => false, browser);
  const LOST = {
    'the page is': '<p style="width: 3000px">words</p>',
    'scrolls sideways': '<div style="overflow-x: auto"><p style="width: 3000px">words</p></div>',
    'is cut at its side': '<p style="width: 4em; overflow: hidden; white-space: nowrap">words that have no room</p>',
    'is cut below': '<p style="block-size: 1em; inline-size: 4em; overflow: hidden">words that have no room</p>',
    'is beside the window': '<div style="overflow: hidden"><p style="position: relative; left: 3000px">words</p></div>',
  };
  for (const [kind, html] of Object.entries(LOST)) {
    await page.setContent(`<main>${html}</main>`);
    holds(`finds what ${kind}`, (await page.evaluate(lost)).some((one) => one.includes(kind)));
  }
  await page.setContent('<main><p>words</p><pre style="overflow: auto"><span style="padding-right: 3000px">code</span></pre></main>');
  holds('finds nothing else', (await page.evaluate(lost)).length === 0);
  await context.close();
}

await judge(finds, each);
