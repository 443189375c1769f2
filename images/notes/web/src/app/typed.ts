/** Where a tab keeps the texts of comments that are being written; a sign-out that deletes removes them in all tabs. */
export const TYPED = "notes-typed";

export const forgetTyped = (): void => globalThis.sessionStorage?.removeItem(TYPED);
