// Chromium at the two edges of the notes application, by its public address: a browser for each edge, and the people
// in them. Argument: what test_workspace_rows.py knows, as JSON.
import { browser, holds, judge, launched, newPage, profiled, signIn, wrong } from '../../../images/notes/tests/judges/chromium.mjs';

export const given = JSON.parse(process.argv[2]);
export const { base, ada, bob } = given;
/** One at each edge; the arguments of all lead to the first one. */
const browsers = [browser, await launched(given.second)];
export { holds, judge, profiled, signIn, wrong };

/** A page of somebody who is not signed in, at an edge. */
export const visitor = (edge, more = {}) => newPage(more, 30_000, () => false, browsers[edge]);

/** Goes to an address, and again a moment later while the answer says that: on a machine with much other work a
 * replica waits too long for the database now and then. */
export async function go(page, address) {
  for (const end = Date.now() + 30_000; ;) {
    const answer = await page.goto(address);
    if (answer?.status() !== 503 || Date.now() > end) return;
    console.log(`503 at ${address}, tried again`);
    await page.waitForTimeout(1_000);
  }
}

/** A page of a person at an edge, at a path of the application. */
export async function person(edge, who, path, more = {}) {
  const { context, page } = await visitor(edge, more);
  await signIn(page, base, who);
  await go(page, base + path);
  await heading(page);
  return { context, page };
}

export const heading = (page, name) => page.getByRole('heading', { level: 1, ...(name ? { name } : {}) }).first().waitFor();

/** What the API answers to the person of a page, sent from there. */
export const ask = (page, method, path, body) => page.evaluate(async ([how, where, what]) => {
  const answer = await fetch(where, {
    method: how, ...(what ? { body: JSON.stringify(what), headers: { 'content-type': 'application/json' } } : {}),
  });
  if (!answer.ok) throw new Error(`${how} ${where}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : answer.json();
}, [method, `/api/v1${path}`, body]);

/** Waits until `look` is true; tells the last answer of `show` if it never is. */
export async function until(look, show = () => '', ms = 30_000) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    if (await look()) return true;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  console.log(`never: ${await show()}`);
  return false;
}

export const edit = async (page) => {
  await page.getByRole('button', { name: 'Edit', exact: true }).first().click();
  const text = page.getByRole('textbox', { name: 'Text of the page' });
  await text.waitFor();
  return text;
};
