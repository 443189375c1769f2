/** The network and the store, as the document of a page uses them; a test gives it others. */
import type { Edits, LiveView } from "../api/types";
import type { Keeping } from "../sync/drafts";
import type { Batch } from "../sync/stored";

/** What the document of a page needs of the world around it. */
export interface Outside {
  send(page: string, client: string, batch: Batch): Promise<{ seq: number; id: string }>;
  since(page: string, seq: number, id: string): Promise<Edits>;
  live(page: string): Promise<LiveView>;
  /** Stores the state of a session; false if its user is not signed in any more. */
  keep(keeping: Keeping): Promise<boolean>;
  pause(ms: number): Promise<void>;
  /** True if a page that the server refuses is gone, not in the trash, and not in a space that is refused, too. */
  isGone(page: string, space: string): Promise<boolean>;
}
