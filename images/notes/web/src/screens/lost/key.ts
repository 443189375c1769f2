/** A key of a text, in the form of an id: the same for the same text, also after a new start. */

const [START, PRIME] = [0x6c62272e07bb014262b821756295c58dn, 2n ** 88n + 315n];

/**
 * The 128 bits of FNV-1a, for a browser without digests (a page that came over plain HTTP).
 *
 * It keeps a person's own texts apart, which nobody makes alike on purpose.
 */
export function sumOf(bytes: Uint8Array): string {
  let sum = START;
  for (const byte of bytes) sum = BigInt.asUintN(128, (sum ^ BigInt(byte)) * PRIME);
  return sum.toString(16).padStart(32, "0");
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16);
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export async function keyOf(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hex = globalThis.crypto.subtle ? await digestOf(bytes) : sumOf(bytes);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
