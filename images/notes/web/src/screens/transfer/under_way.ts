/** Guards a file on its way: a new version of the workspace does not break it off, and the tab asks before it closes. */
import { noteUse } from "../../app/updates";

/** Does `work`, whose progress `tell` hears: it counts as a use of the workspace, which loads again only when unused. */
export async function underWay<T>(
  tell: (bytes: number) => void,
  work: (tell: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const ask = (event: Event): void => event.preventDefault();
  addEventListener("beforeunload", ask);
  try {
    return await work((bytes) => {
      use();
      tell(bytes);
    });
  } finally {
    removeEventListener("beforeunload", ask);
  }
}

function use(): void {
  try {
    noteUse();
  } catch {
    // A browser without storage tells no other tab; the file goes on.
  }
}
