/** What an editor has to know of a page that takes its text no more. */
import { ApiError } from "../api/client";
import { load } from "../api/signed_in";

/** True if the server refuses an object. Throws if it is not reached. */
export async function isRefused(path: string): Promise<boolean> {
  try {
    await load(`/api/v1/${path}`, () => undefined);
    return false;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return true;
    throw error;
  }
}

const SOON_MS = 500;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows what is written on in such a text. */
export function showLostSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void showLost(), SOON_MS);
}

/** Shows the texts whose pages are gone. */
export const showLost = (): Promise<void> =>
  import("../screens/lost/texts").then((part) => part.showTexts()).catch(() => undefined);
