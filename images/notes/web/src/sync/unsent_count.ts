/** How much of each person is not sent, for the plain pages. */
import { database } from "./database";

const NOTE_MS = 500;
let noting: ReturnType<typeof setTimeout> | undefined;

/** Tells the plain pages, which see a cookie only, how many edits and files of each person are not sent. */
export function noteUnsent(): void {
  noting ??= setTimeout(async () => {
    noting = undefined;
    const db = await database();
    const counts = new Map<string, number>();
    for (const name of ["drafts", "uploads", "doubts", "requests"] as const)
      for (const one of (await db?.getAll(name)) ?? []) {
        // Such a request is remembered only.
        if ("kind" in one && !one.doubt) continue;
        counts.set(one.user, (counts.get(one.user) ?? 0) + 1);
      }
    const told = [...counts].map((one) => one.join(":")).join(".");
    const age = told ? 31_536_000 : 0;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `notes-unsent=${told}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  }, NOTE_MS);
}
