/** The network and the store, as a session uses them; a test gives it others. */
import type { Edits, LiveView } from "../api/types";
import type { Batch, Draft } from "../sync/drafts";
import type { Session } from "./session";

/** What a session needs of the world around it. */
export interface Outside {
  send(page: string, client: string, batch: Batch): Promise<{ seq: number; id: string }>;
  since(page: string, seq: number, id: string): Promise<Edits>;
  live(page: string): Promise<LiveView>;
  keep(draft: Draft): Promise<boolean>;
  remove(client: string): Promise<void>;
  pause(ms: number): Promise<void>;
  changed(session: Session): void;
}
