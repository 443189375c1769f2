/** Decides which addresses of a document become links, as the server does (doc/attributes.py). */

const LIVE_SCHEMES = ["http:", "https:", "mailto:", "tel:"];
const PAGE = /^\/p\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=[#?]|$)/;
const FILE = /^\/api\/v1\/attachments\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?=[#?]|$)/;

/** True if the address may be a link: it is on this site, or its scheme is harmless. */
export function isLive(url: string): boolean {
  const head = url.split(/[/?#]/, 1)[0] ?? "";
  return !head.includes(":") || LIVE_SCHEMES.some((scheme) => url.toLowerCase().startsWith(scheme));
}

/** True for a mention of a person: a link to `mention:<the user's id>`, drawn as its text alone. */
export const isMention = (url: string): boolean => /^mention:/i.test(url);

/** The id of the page of this site that the address leads to. */
export const pageOf = (url: string): string | undefined => PAGE.exec(url)?.[1];

/** The id of the file of this site that the address leads to. */
export const fileOf = (url: string): string | undefined => FILE.exec(url)?.[1];

const SHOWN = [
  ["video", /\.(mp4|m4v|mov|ogv|webm)$/i],
  ["audio", /\.(aac|flac|m4a|mp3|oga|ogg|opus|wav)$/i],
  ["pdf", /\.pdf$/i],
] as const;

/** What shows a file of this name in its place; undefined for a link alone. */
export const shownAs = (name: string): (typeof SHOWN)[number][0] | undefined =>
  SHOWN.find(([, ending]) => ending.test(name))?.[0];

/** A heading's text as an anchor: letters, digits, `-` and `_`, in lower case. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(" ", "-")
    .replace(/[^\p{L}\p{N}\p{M}_-]/gu, "");
}

/**
 * An address as the server stores it; undefined for one that the server refuses: its scheme could
 * run code, or it is too long.
 */
export function addressFor(given: string): string | undefined {
  const text = given.replace(/[\p{Cc}\p{Cs}]/gu, "").trim();
  if (!text || text.length > 4000 || /^(javascript|vbscript|data):/i.test(text)) return undefined;
  const quoted = text.replace(/[\s<>"\\`{}|^]/gu, (one) => encodeURIComponent(one));
  return quoted.length > 4000 ? undefined : quoted;
}
