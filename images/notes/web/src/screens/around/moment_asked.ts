/** The moments that are kept of a page, and the addresses of them. Decides from the texts alone. */
import { historyPath } from "../../app/routes";

export interface Burst {
  first: number;
  seq: number;
  begun_at: string;
  at: string;
  authors: string[];
}

/** What is kept of a page's edits: the moments from `first` to `last`, and when they were made. */
export interface Bursts {
  first: number;
  last: number;
  days: number;
  bursts: Burst[];
}

/** What a moment is compared with: an earlier one, or the page as it is. */
export type Other = number | "now" | undefined;

/** The address of the moments, of one, or of what changed between two of them. */
export const momentsPath = (id: string, seq?: number, since?: Other): string =>
  `${historyPath(id)}?moment=${seq ?? "all"}${since === undefined ? "" : `&since=${since}`}`;

/** What is asked for: all moments, or one; undefined for the versions. */
export function momentAsked(query: string): { seq?: number; since?: Other } | undefined {
  const asked = new URLSearchParams(query);
  const number = (name: string): number | undefined =>
    /^\d{1,15}$/.test(asked.get(name) ?? "") ? Number(asked.get(name)) : undefined;
  if (!asked.has("moment")) return undefined;
  const [seq, since] = [number("moment"), number("since")];
  if (seq === undefined) return {};
  if (asked.get("since") === "now") return { seq, since: "now" };
  return since === undefined || since >= seq ? { seq } : { seq, since };
}

/** The moment before the burst of one; before the edit itself if its burst is not known. */
export function beforeOf({ first, bursts }: Bursts, seq: number): Other {
  const burst = bursts.find((one) => one.first <= seq && seq <= one.seq);
  return seq > first ? Math.max(first, (burst?.first ?? seq) - 1) : undefined;
}
