/** The records that this browser stores: pages to read offline, and what is not sent yet. */
import type { PageNode, TreeNode } from "../api/types";
import type { Doc } from "../doc/types";

export interface StoredPage {
  id: string;
  user: string;
  space_id: string;
  node: PageNode;
  text: string;
  /** With its pictures. */
  bytes: number;
  /** The bytes of its stored pictures; an older release has not counted them. */
  pictures?: number;
  readAt: number;
  /** What an editor begins from, where that is not the page's document. */
  base?: PageBase;
}

/** The exact document of a page after an edit. */
export interface PageBase {
  seq: number;
  id: string;
  title: string;
  doc: Doc;
  /** The version that was saved last when it was read; an older release has stored none. */
  version?: number;
}

export interface StoredTree {
  space_id: string;
  user: string;
  nodes: TreeNode[];
}

export interface StoredPicture {
  id: string;
  user: string;
  page_id: string;
  blob: Blob;
}

/** Values that are needed once: the session, the spaces, favourites, recent pages, settings. */
export interface StoredValue {
  name: string;
  user: string;
  value: unknown;
}

/** A range of the page's document; what is expected there, and what its person had made of it, as slices. */
export interface StoredAwaited {
  from: number;
  to: number;
  before: unknown;
  after: unknown;
}

/** A request that was sent, or is about to be: it is repeated as it is until its outcome is known. */
export interface Batch {
  n: number;
  base_seq: number;
  base_id: string;
  steps: unknown[];
  title?: string;
}

/** A draft as it is stored: its content is apart, since it is large and seldom changes. */
export interface StoredDraft {
  client: string;
  user: string;
  page: string;
  seq: number;
  id: string;
  title: string;
  /** The edit that the stored content is of. */
  base: string;
  /** The accepted steps from that content to the edit `seq`. */
  passed: unknown[];
  /** The last number that was used for a batch. */
  n: number;
  steps: unknown[];
  newTitle: string | null;
  sending: { batch: Batch; count: number } | null;
  /** The space of the page; a draft of an older version has none. */
  space?: string;
  /** Why the page takes the text no more: it is kept as a text of its own. Absent while it does. */
  lost?: string;
  /** What waits until others have sent again what it is about. */
  awaited?: StoredAwaited[];
  /** True if its person has saved the text as this page, which has no edits of theirs. */
  isWhole?: boolean;
}

export interface Draft extends StoredDraft {
  /** The content at the edit `base`. */
  doc: Doc;
}

/** The content that a draft, or a remembered session, begins from. */
export interface Base {
  client: string;
  base: string;
  doc: Doc;
}

/** An edit that the server has accepted: with what takes it back, should a failover lose it. */
export interface StoredEdit {
  client: string;
  seq: number;
  id: string;
  isOwn: boolean;
  title: string | null;
  before: { seq: number; id: string };
  steps: unknown[];
  inverted: unknown[];
}

/** A session of which everything was accepted, at `at` (milliseconds since 1970). */
export interface Remembered extends StoredDraft {
  at: number;
}

/** A doubtful place: what its person wrote, and the range that it is about in the document after an edit. */
export interface StoredDoubt {
  id: string;
  user: string;
  page: string;
  mine: unknown[];
  seq: number;
  edit: string;
  from: number;
  to: number;
  isExact: boolean;
}

/** Where a file will be: a position in the page's document after an edit. */
export interface Place {
  seq: number;
  id: string;
  pos: number;
  /** False while text before it was not sent yet: it comes after what is inserted at the position. */
  isExact: boolean;
}

export interface KeptUpload {
  id: string;
  user: string;
  page: string;
  name: string;
  size: number;
  type: string;
  place: Place;
  /** The address of a picture on another site, whose place in the text the file takes. */
  instead?: string;
  /** The upload at the server, once it has begun in chunks; "" after a form was tried. */
  begun?: { id: string; chunk_size: number } | "";
  /** True while its person has it wait, also after a reload. */
  isPaused?: boolean;
}

export interface KeptFile {
  id: string;
  user: string;
  file: File;
}

/** The `doubt` of what was never sent. */
export const WAITING = "waiting";

/**
 * A request about a comment or a file that the server has accepted, at `at` (milliseconds since 1970): it is sent
 * again under its key if a failover loses it. Or one that waits for a network: for a page, made at `at`.
 */
export interface KeptRequest {
  key: string;
  user: string;
  page: string;
  /** The title of the page, for a page that is gone. */
  title: string;
  at: number;
  kind: "page" | "favourite" | "post" | "edit" | "resolve" | "delete" | "file";
  /** The page, the comment or the file that it made, changed or deleted. */
  id: string;
  parent?: string;
  quote?: string;
  body?: string;
  /** Of a thread: if it is resolved; of a favourite: if it is one. */
  resolved?: boolean;
  /** Of a change: the states of the comment that it may replace. */
  bases?: (string | null)[];
  /** Of a deletion: the answers that went with the comment. */
  answers?: string[];
  /** Of a file: how many bytes it has, and its type; its name is the body. */
  size?: number;
  type?: string;
  /** Of a page: where it is made, and how its person sees it until then. */
  made?: MadePage;
  node?: PageNode;
  /**
   * Empty if the server has done it. `WAITING` of what was never sent, for want of a network. Otherwise the reason
   * why it could not be sent: a person has to decide.
   */
  doubt: string;
}

/** A page to make. */
export interface MadePage {
  space: string;
  parent: string | null;
  is_template: boolean;
  /** What it begins with; the server takes it from the template, if there is one. */
  doc: Doc | null;
  template: string;
}

export interface Lease {
  name: string;
  holder: string;
  /** Milliseconds since 1970. */
  until: number;
}
