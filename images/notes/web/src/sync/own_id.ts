/** The id of what a user makes under a key, as the server decides it (`pages/repeats.py`). */

const OWN = new TextEncoder().encode("own id");
const bytesOf = (id: string): number[] =>
  (id.replaceAll("-", "").match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16));

/** The id; undefined where the browser has no digests (a page that came over plain HTTP). */
export async function ownId(user: string, key: string): Promise<string | undefined> {
  if (!globalThis.crypto.subtle) return undefined;
  const begin = bytesOf(key).slice(0, 8);
  begin[6] = 0x80 | ((begin[6] ?? 0) & 0x0f);
  const summed = new Uint8Array([...OWN, ...bytesOf(user), ...begin]);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", summed));
  const end = [0x80 | ((sum[0] ?? 0) & 0x3f), ...sum.slice(1, 8)];
  const hex = [...begin, ...end].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
