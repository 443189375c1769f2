/** The objects of the JSON API that the workspace reads (`/api/v1/openapi.json`). */
import type { Doc } from "../doc/types";

export interface Site {
  name: string;
  version: string;
  space_id: string | null;
  is_set_up: boolean;
  has_sign_on: boolean;
}

export interface Me {
  id: string;
  email: string;
  name: string;
  is_admin: boolean;
  /** Where the stream begins that tells of all that is read after this answer; not of a stored one. */
  events_since?: string;
}

export type RoleName = "none" | "viewer" | "commenter" | "editor" | "manager";

export interface Space {
  id: string;
  slug: string;
  name: string;
  description: string;
  role: RoleName;
}

export interface TreeNode {
  id: string;
  parent_id: string | null;
  title: string;
  is_template: boolean;
  is_restricted: boolean;
  updated_at: string;
}

export interface PageNode {
  id: string;
  space_id: string;
  parent_id: string | null;
  title: string;
  version: number;
  role: RoleName;
  is_template: boolean;
  doc: Doc;
  updated_at: string;
  trashed_at: string | null;
  is_favourite: boolean;
  /** Absent in the answers of an older server. */
  is_watched?: boolean;
  /**
   * The edit that exactly this document is of; null where the document of the edit log is another one. Absent in the
   * answers of an older server.
   */
  edit?: { seq: number; id: string } | null;
}

/** A comment; one without `parent_id` begins a thread. `quote` is the passage that it is about. */
export interface Comment {
  id: string;
  parent_id: string | null;
  author_id: string | null;
  author_name: string | null;
  body: string;
  quote: string | null;
  created_at: string;
  edited_at: string | null;
  resolved_at: string | null;
  state_changed_at: string | null;
}

export interface Reference {
  id: string;
  space_id: string;
  title: string;
  updated_at: string;
}

export interface Fragment {
  text: string;
  hit: boolean;
}

export interface Hit {
  id: string;
  space_id: string;
  title: Fragment[];
  excerpt: Fragment[];
}

export interface Attachment {
  id: string;
  name: string;
  media_type: string;
  size: number;
}

/** The exact document of a page after its edit `seq`. */
export interface LiveView {
  seq: number;
  id: string;
  version: number;
  title: string;
  doc: Doc;
}

export interface Edit {
  seq: number;
  id: string;
  client: string | null;
  n: number | null;
  author_id: string | null;
  at: string;
  steps: unknown[] | null;
  title: string | null;
}

export interface Edits {
  seq: number;
  id: string;
  is_known: boolean;
  edits: Edit[];
}

export interface Person {
  id: string;
  name: string;
}

/** A selection in the document of a page after its edit `seq`. */
export interface Caret {
  seq: number;
  anchor: number;
  head: number;
}

export interface CaretOf extends Person, Caret {}

export interface Presence {
  seq: number;
  id: string;
  is_saved: boolean;
  people: Person[];
  carets: CaretOf[];
}

export interface LiveEvent {
  kind: string;
  space_id?: string;
  node_id?: string;
  version?: number;
  edit_id?: string;
  seq?: number;
  people?: Person[];
  carets?: CaretOf[];
}

/** True if the role allows to comment on a page. */
export const mayComment = (role: RoleName): boolean => role === "commenter" || mayWrite(role);

/** True if the role allows to change a page. */
export const mayWrite = (role: RoleName): boolean => role === "editor" || role === "manager";
