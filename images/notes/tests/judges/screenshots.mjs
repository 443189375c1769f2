// Takes a picture of each screen in each look. Arguments: address, a person's sign-in (JSON), a folder, the screens as JSON.
import { writeFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { show, signIn } from './screen_acts.mjs';

const [base, person, folder, given] = process.argv.slice(2);
const DESKTOP = { width: 1200, height: 760 };
const PHONE = { viewport: { width: 375, height: 720 }, hasTouch: true, isMobile: true };
const LOOKS = {
  desktop: { viewport: DESKTOP },
  dark: { viewport: DESKTOP, colorScheme: 'dark' },
  phone: PHONE,
};
const QUALITY = 62;
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--hide-scrollbars',
    '--host-resolver-rules=MAP *.example.org 127.0.0.1',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

async function taken(screen, look) {
  const context = await browser.newContext({ ...LOOKS[look], reducedMotion: 'reduce', timezoneId: 'UTC' });
  context.setDefaultTimeout(30_000);
  // A sign-in for each picture: on one of the screens it ends.
  if (!screen.isPublic) await signIn(context, base, person);
  const page = await context.newPage();
  await show(page, base, screen);
  await page.waitForTimeout(250);
  const wire = await context.newCDPSession(page);
  const { data } = await wire.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  writeFileSync(`${folder}/${screen.name}-${look}.webp`, Buffer.from(data, 'base64'));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) throw new Error(`the screen is ${wide} pixels wider than the window`);
  await context.close();
}

let failed = 0;
for (const screen of JSON.parse(given)) {
  for (const look of screen.isNarrow ? ['phone'] : Object.keys(LOOKS)) {
    try {
      await taken(screen, look);
    } catch (error) {
      failed += 1;
      console.error(`${screen.name}, ${look}: ${error.message}`);
    }
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
