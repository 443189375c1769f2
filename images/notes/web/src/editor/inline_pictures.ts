/** Pictures that pasted HTML brings with it, as files: they are in the clipboard, and nothing is fetched for them. */

const PICTURE =
  /\bsrc\s*=\s*["']data:(image\/(?:avif|gif|jpeg|png|webp));base64,([a-z\d+/=\s]+)["']/gi;
const [MOST, MOST_SIGNS] = [50, 30_000_000];

export function filesIn(html: string): File[] {
  const found: File[] = [];
  for (const [, type = "", text = ""] of html.matchAll(PICTURE)) {
    if (found.length === MOST || text.length > MOST_SIGNS) break;
    try {
      const bytes = Uint8Array.from(atob(text.replace(/\s/g, "")), (sign) => sign.charCodeAt(0));
      found.push(new File([bytes], `image.${type.slice(6)}`, { type }));
    } catch {
      // It is no base64.
    }
  }
  return found;
}
