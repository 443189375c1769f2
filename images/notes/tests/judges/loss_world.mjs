// The world of loss.mjs: what happens to it, and what its server says.
import { given, pause } from './loss_people.mjs';

const { fronts, control, token } = given;

/** Has loss.py do something to the world. */
export async function act(action, more = {}) {
  const answer = await fetch(`${control}/${action}?${new URLSearchParams(more)}`, { method: 'POST' });
  if (!answer.ok) throw new Error(`${action}: ${await answer.text()}`);
}

/** The answer of the first front that gives one. */
export async function api(method, path, body) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await fetch(`${fronts[attempt % 2]}/api/v1${path}`, {
        method, headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        ...(body ? { body: JSON.stringify(body) } : {}) });
      if (answer.status === 204) return undefined;
      if (answer.ok) return await answer.json();
      throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    } catch (error) {
      if (attempt === 30 || / 404 /.test(error.message)) throw error;
      await pause(500);
    }
  }
}

const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join('');
/** The text of a page, block by block, as the server has it. */
export const blocks = async (id) => (await api('GET', `/nodes/${id}/live`)).doc.content.map(textOf);

/** The same; nothing for a page that a failover has lost. */
export const blocksOrNone = (id) => blocks(id).catch((error) => {
  if (/: 404 /.test(error.message)) return [];
  throw error;
});
