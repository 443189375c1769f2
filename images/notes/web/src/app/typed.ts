/** Where a tab keeps the texts of comments that are being written; a sign-out that deletes removes them in all tabs. */
export const TYPED = "notes-typed";

export const forgetTyped = (): void => globalThis.sessionStorage?.removeItem(TYPED);

/** Removes those of one person, whose id their keys begin with. */
export function forgetTypedOf(user: string): void {
  const found: [string, unknown][] = JSON.parse(sessionStorage.getItem(TYPED) ?? "[]");
  const kept = found.filter(([key]) => !key.startsWith(`${user} `));
  if (kept.length < found.length) sessionStorage.setItem(TYPED, JSON.stringify(kept));
}
