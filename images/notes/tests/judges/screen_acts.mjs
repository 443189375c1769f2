// What is done on a screen of the workspace before it is checked or its picture is taken, in any language.
const NOT_STORED = '00000000-0000-4000-8000-000000000000';

const editor = async (page) => {
  await page.keyboard.press('e');
  await page.locator('.ProseMirror').waitFor();
};
/** Gives the page another text; runs in the browser. */
async function change(markdown) {
  const url = `/api/v1/nodes/${location.pathname.split('/').at(-1)}`;
  const headers = { 'content-type': 'application/json' };
  const { version } = await (await fetch(url)).json();
  await fetch(url, { method: 'PUT', headers, body: JSON.stringify({ base_version: version, markdown }) });
}
const isOpen = (page) => page.locator('dialog[open]').waitFor();
const acts = {
  edit: editor,
  async menu(page) {
    await page.locator('.topbar [aria-haspopup=menu]').last().click();
    await page.getByRole('menu').waitFor();
  },
  async slash(page) {
    await editor(page);
    await page.locator('.ProseMirror').focus();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('A shorter form for sign-up.');
    await page.keyboard.press('Enter');
    await page.keyboard.type('/');
    await page.getByRole('listbox').waitFor();
  },
  async palette(page) {
    await page.keyboard.press('Control+k');
    await page.getByRole('listbox').waitFor();
  },
  async findPerson(page) {
    await acts.palette(page);
    await page.locator('dialog input[role=combobox]').fill('grace');
    await page.locator('[id^="palette.person."]').waitFor();
    await page.waitForTimeout(300);
  },
  async deleteFile(page) {
    await page.locator('[data-file]').first().getByRole('button').click();
    await isOpen(page);
  },
  async firstSteps(page) {
    await page.locator('[data-step]').first().waitFor();
  },
  async editLog(page) {
    await page.locator('[data-edit-log] input').fill('7');
    await page.locator('[data-edit-log] input').press('Enter');
    await page.locator('[data-edit-log] .ask').evaluate((one) => one.scrollIntoView({ block: 'center' }));
  },
  async keys(page) {
    await page.keyboard.press('?');
    await isOpen(page);
  },
  async comments(page) {
    await page.locator('.prose').waitFor();
    await page.keyboard.press('c');
    await page.locator('#beside .thread').first().waitFor();
    await page.locator('#beside button.passage').first().click();
    await page.waitForTimeout(500);
  },
  async newComment(page) {
    await acts.comments(page);
    await page.evaluate(() => {
      const words = document.querySelector('#main .prose li').firstChild.lastChild;
      getSelection().setBaseAndExtent(words, 1, words, words.data.length);
    });
    await page.locator('[id="beside.title"]').focus();
    await page.keyboard.press('c');
    await page.locator('#beside textarea').fill('Is that the one of June?');
    await page.mouse.move(1, 1);
  },
  async mention(page) {
    await acts.comments(page);
    await page.locator('#beside > button').first().click();
    await page.locator('#beside textarea').fill('');
    await page.locator('#beside textarea').pressSequentially('Do you know that, @');
    await page.locator('#beside [role=option]').first().waitFor();
  },
  async permissions(page) {
    await acts.menu(page);
    // The item with a lock, in any language.
    await page.locator('[role=menuitem]:has(path[d^="M5.500 9h9"])').click();
    await page.locator('dialog.roomy .primary').click();
    await page.locator('dialog.roomy input[role=combobox]').fill('wr');
    await page.waitForTimeout(600);
  },
  async move(page) {
    await page.keyboard.press('m');
    await page.locator('dialog.roomy [role=option]').first().waitFor();
    await page.waitForTimeout(300);
  },
  async newPage(page) {
    await page.keyboard.press('n');
    await isOpen(page);
  },
  async newSpace(page) {
    if (await page.locator('.side[inert]').count()) await acts.drawer(page);
    await page.locator('.switcher > button').click();
    await page.getByRole('menuitem').last().click();
    await page.locator('dialog input[name=name]').fill('Design');
  },
  async addMember(page) {
    await page.locator('[data-member]').first().waitFor();
    await page.locator('.add > summary').first().click();
    await page.locator('.add input[role=combobox]').fill('wri');
    await page.locator('.add [role=option]').first().waitFor();
    await page.locator('#space-members').evaluate((one) => one.scrollIntoView());
  },
  async site(page) {
    await page.locator('[data-served]').waitFor();
    await page.locator('#space-site').evaluate((one) => one.scrollIntoView());
  },
  async look(page) {
    await page.locator('.logo img').evaluate((one) => one.decode());
    await page.locator('#space-look').evaluate((one) => one.scrollIntoView());
  },
  async limits(page) {
    await page.locator('[aria-labelledby=limits-spaces] select').selectOption({ index: 1 });
    await page.locator('.uses').waitFor();
    await page.locator('#limits-spaces').evaluate((one) => one.scrollIntoView());
  },
  /** The address of the test's replica has another port each time. */
  async signOn(page) {
    await page.locator('code.wrap').evaluate((one) => { one.textContent = 'https://notes.example.org/auth/oidc/callback'; });
  },
  async trial(page) {
    await acts.signOn(page);
    const values = { issuer: 'https://id.example.org', client_id: 'notes', client_secret: 'unknown', groups_claim: 'groups', admin_group: 'admins' };
    for (const [name, value] of Object.entries(values)) await page.locator(`input[name=${name}]`).fill(value);
    await page.locator('.sheet .primary').click();
    await page.locator('[data-trial]').waitFor();
    await page.locator('[data-trial]').evaluate((one) => one.scrollIntoView());
  },
  /** Two sessions: each picture has begun another one, and pictures must not differ. */
  async sessions(page) {
    await page.locator('[data-session]').nth(1).waitFor();
    await page.evaluate(() => document.querySelectorAll('[data-session]:nth-child(n + 3)').forEach((one) => one.remove()));
    await page.locator('#account-sessions').evaluate((one) => one.scrollIntoView());
  },
  async preview(page) {
    await page.locator('.preview-tree li').first().waitFor();
  },
  async setupYou(page) {
    await page.locator('form .primary').click();
    await page.locator('input[name=email]').waitFor();
  },
  async setupTour(page) {
    await acts.setupYou(page);
    await page.locator('input[name=name]').fill('Ada Lovelace');
    await page.locator('input[name=email]').fill('ada@example.org');
    await page.locator('input[name=password]').fill('a long password');
    await page.locator('form .primary').click();
    await page.getByRole('radio').first().waitFor();
  },
  async newToken(page) {
    await page.locator('.add > summary').click();
    await page.locator('.add input[name=name]').fill('Nightly export');
    await page.locator('.add .primary').click();
    await page.locator('.secret').waitFor();
    // A picture must not differ from one day to the next.
    await page.evaluate(() => { document.querySelector('.secret code').textContent = 'nt_shown-once'; });
  },
  /** A picture must not differ from one day to the next. */
  async people(page) {
    await page.locator('[data-invitation]').first().waitFor();
    await page.evaluate(() => document.querySelectorAll('[data-invitation] small:last-child').forEach((one) => {
      one.textContent = 'Invited by Ada · Ends on Dec 24, 2026';
    }));
  },
  async invite(page) {
    await acts.people(page);
    await page.locator('#invite').click();
    const values = { email: 'dorothy@example.org', name: 'Dorothy Vaughan' };
    for (const [name, value] of Object.entries(values)) await page.locator(`[data-invite] input[name=${name}]`).fill(value);
    await page.locator('[data-invite] select').first().selectOption('editor');
  },
  async invited(page) {
    await acts.invite(page);
    await page.locator('[data-invite] .primary').click();
    await page.locator('.secret').waitFor();
    await page.locator('[data-invitation]').nth(1).waitFor();
    await acts.people(page);
    await page.evaluate(() => { document.querySelector('.secret code').textContent = 'https://notes.example.org/s/shown-once/invitation'; });
  },
  /** A picture must not differ from one day to the next. */
  async invitation(page) {
    await page.evaluate(() => {
      const text = document.querySelector('main p').firstChild;
      text.data = text.data.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, '2026-12-24 18:00');
    });
  },
  async group(page) {
    await page.locator('[data-group] button').first().click();
    await page.locator('[data-group] .boxes').waitFor();
  },
  async drawer(page) {
    await page.locator('.topbar [data-first]').click();
    await page.getByRole('treeitem').first().waitFor();
  },
  async visits(page) {
    // Of the first link of the world, the last in the list, which has visits.
    await page.locator('.card [aria-expanded]').nth(-3).click();
    await page.locator('.chart').waitFor();
    await page.locator('.card').last().scrollIntoViewIfNeeded();
  },
  /** Somebody replaces a paragraph while it is written in, and the edit arrives later. */
  async doubt(page) {
    await page.evaluate(change, 'The team meets every Monday.\n\nBring your questions to the kitchen.\n');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForTimeout(700);
    await editor(page);
    await page.route('**/edits', (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
    await page.locator('.ProseMirror > p').last().click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Control+ArrowRight');
    await page.keyboard.type(' all');
    await page.locator('[data-saving=kept]').waitFor();
    await page.evaluate(change, 'The team meets every Monday.\n\nAsk in the chat!\n');
    await page.unroute('**/edits');
    await page.locator('[data-doubt]').waitFor();
  },
  /** What is written is refused, as of a page that somebody has deleted meanwhile. */
  async lostText(page) {
    await page.route('**/edits', (route) => (route.request().method() === 'POST'
      ? route.fulfill({ status: 404, json: { status: 404, title: 'Not found', detail: 'There is no such page.' } }) : route.continue()));
    await editor(page);
    await page.locator('.ProseMirror').press('Control+End');
    await page.keyboard.type(' Written in the train.');
    await page.locator('[data-lost-text]', { hasText: 'train.' }).waitFor();
  },
  async offline(page) {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForTimeout(2500);
    await page.context().setOffline(true);
    await page.goto(`${new URL(page.url()).origin}/w/p/${NOT_STORED}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  },
  async signOut(page) {
    await page.waitForTimeout(500);
    if (await page.locator('.side[inert]').count()) await acts.drawer(page);
    await page.locator('.side [aria-haspopup=menu]').last().click();
    await page.getByRole('menuitem').last().click();
    await isOpen(page);
  },
  async signedOut(page) {
    await acts.signOut(page);
    // An earlier screen has left a text that has no page: the question is what becomes of it.
    await page.waitForTimeout(500);
    const isKept = await page.locator('dialog .buttons .primary').evaluate((one) => one !== one.parentElement.children[1] && one.parentElement.children.length > 2);
    const buttons = page.locator('dialog .buttons button');
    await (isKept ? buttons.nth(1) : page.locator('dialog .primary')).click();
    await page.locator('main.alone h1').waitFor();
  },
  async plainSignOut(page) {
    await page.context().addCookies([{ name: 'notes-unsent', value: '2', url: page.url() }]);
    await Promise.all([page.waitForLoadState('load'), page.locator('form[action="/logout"] button').click()]);
    await page.locator('form[action="/logout?unsent=keep"]').waitFor();
  },
};

/** Opens a screen in a page of a browser that is signed in (or is not, for a public one). */
export async function show(page, base, { path, act }) {
  const response = await page.goto(base + path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  if (path.startsWith('/w')) await page.waitForTimeout(700);
  if (act) await acts[act](page);
  return response;
}

/** Signs a person (e-mail address and password as JSON) in, in a browser's context of its own. */
export async function signIn(context, base, person) {
  const headers = { 'content-type': 'application/json', origin: base };
  const answer = await context.request.post(`${base}/api/v1/session`, { headers, data: person });
  if (!answer.ok()) throw new Error(`sign-in: ${answer.status()} ${await answer.text()}`);
}
