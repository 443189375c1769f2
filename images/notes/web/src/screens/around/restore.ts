/** Restores a page as it was: a version, or the page after an edit. */
import { ApiError, get, request } from "../../api/client";
import type { PageNode } from "../../api/types";

/** Somebody may save while one restores: the restore is sent again for the version that is there then. */
const TRIES = 4;

/** `what` is `revisions/<version>` or `edits/<seq>`. */
export async function restore(id: string, what: string): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    const base = await get<PageNode>(`/api/v1/nodes/${id}`);
    try {
      await request("POST", `/api/v1/nodes/${id}/${what}/restore`, {
        body: { base_version: base.version, base_updated_at: base.updated_at },
      });
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409) || left <= 1) throw error;
    }
  }
}
