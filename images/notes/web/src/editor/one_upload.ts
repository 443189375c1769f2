/**
 * One file on its way to the server: stored for a reload, sent, and inserted in its place.
 *
 * Invariant: it is forgotten only when it is in the text, or a person gives it up; the file itself is kept for a day,
 * in case a failover loses it.
 */
import type { Node } from "prosemirror-model";
import { type EditorState, PluginKey, type Transaction } from "prosemirror-state";
import { ApiError } from "../api/client";
import { isCurrent } from "../api/signed_in";
import { makeId } from "../app/presence";
import { notice } from "../app/store";
import { words } from "../app/words";
import { take } from "../sync/drafts";
import { forgetUpload, keepFile, keepUpload } from "../sync/kept_files";
import type { KeptUpload } from "../sync/stored";
import type { Begun, FileUpload, Stored } from "../sync/upload";
import { stateOf, type UploadState } from "../sync/upload_state";
import { placeOf } from "./kept_place";
import { mark, node } from "./keys";
import { showLostSoon } from "./lost_text";
import type { Session } from "./session";

export const SHOWN = /^image\/(avif|gif|jpeg|png|svg\+xml|webp)$/;

export interface Held {
  upload: Upload;
  pos: number;
}
export type Change = { added: Held[] } | { removed: Upload };

export const key = new PluginKey<readonly Held[]>("uploads");
export const held = (state: EditorState): readonly Held[] => key.getState(state) ?? [];

/** A file on its way, or one whose upload has failed. */
export class Upload {
  share = 0;
  /** Why it has failed, in words; empty while it is on its way. */
  reason = "";
  /** True when this browser has stored the file: a reload does not lose it. */
  isKept = false;
  /** Draws the upload again; set by what shows it. */
  show = (): void => undefined;
  #stopping = new AbortController();
  #run = new AbortController();
  #sending: FileUpload | undefined;
  #keeping: Promise<unknown> = Promise.resolve();

  /** Without a file it waits until a person chooses it again. */
  constructor(
    readonly session: Session,
    readonly kept: KeptUpload,
    public file: File | undefined,
    public release: () => void = () => undefined,
  ) {}

  /** The upload of a file that is new here; it is stored for a reload. */
  static of(session: Session, file: File, pos: number, instead = ""): Upload {
    const { page, user } = session;
    const kept: KeptUpload = {
      ...{ id: makeId(), user, page, name: file.name, size: file.size, type: file.type },
      place: placeOf(session, pos),
      ...(instead ? { instead } : {}),
    };
    const made = new Upload(session, kept, file);
    made.#keeping = (async () => {
      const release = await take(kept.id);
      if (release) made.release = release;
      made.isKept = (await keepUpload(kept)) && (await keepFile(kept, file));
    })().catch(() => undefined);
    return made;
  }

  async start(): Promise<void> {
    const { file, kept, session } = this;
    if (this.#stopping.signal.aborted) return;
    const w = words.value;
    this.reason = "";
    this.show();
    if (!file || kept.isPaused) return;
    const isSame = isCurrent();
    const { signal } = (this.#run = new AbortController());
    try {
      const { FileUpload, keepAccepted, wire } = await import("./send_upload");
      if (signal.aborted) return;
      this.#sending ??= new FileUpload(
        session.page,
        file,
        wire(kept.id, isSame),
        (how) => this.#begun(how),
        kept.begun,
      );
      const stored = await this.#sending.run(signal, (bytes) => {
        if (signal.aborted) return;
        this.share = bytes / Math.max(1, file.size);
        this.show();
      });
      if (signal.aborted) return;
      session.apply(inserted(session.now(), this, stored));
      await this.#keeping;
      await keepAccepted(kept, stored.id, session.title).catch(() => undefined);
      void import("../screens/beside/requests").then((part) => part.look()).catch(() => undefined);
      this.release();
    } catch (error) {
      if (signal.aborted) return;
      this.reason = error instanceof ApiError ? error.message : w.notReached;
      notice.value = w.uploadFailed(kept.name, this.reason);
      this.show();
      // Its page may be gone.
      showLostSoon();
    }
  }

  /** Goes on with the file that a person has chosen again, if it is the same one. */
  choose(file: File): void {
    if (file.name !== this.kept.name || file.size !== this.kept.size) {
      notice.value = words.value.otherFile(this.kept.name);
      return;
    }
    this.file = file;
    this.kept.isPaused = false;
    void keepFile(this.kept, file).then((isKept) => {
      this.isKept = isKept;
    });
    void this.start();
  }

  /** Stores where it will be, now that all text before it is sent. */
  keepPlace(pos: number): void {
    if (this.kept.place.isExact) return;
    this.kept.place = placeOf(this.session, pos);
    this.#keep();
  }

  /** Has it wait until `resume`, also after a reload; what has arrived stays at the server. */
  pause(): void {
    this.kept.isPaused = true;
    this.#run.abort();
    this.#keep();
    notice.value = words.value.paused(this.kept.name);
    this.show();
  }

  resume(): void {
    this.kept.isPaused = false;
    this.#keep();
    void this.start();
  }

  get state(): UploadState {
    const { file, reason, kept } = this;
    return stateOf({ hasFile: file !== undefined, reason, isPaused: kept.isPaused === true });
  }

  /** Ends it here; what is stored of it waits for the next start. */
  stop(): void {
    this.#stopping.abort();
    this.#run.abort();
    this.release();
  }

  /** Gives the upload up, and takes it out of the text. */
  remove(): void {
    const { session } = this;
    this.stop();
    this.#sending?.giveUp();
    void this.#forget();
    session.apply(session.now().tr.setMeta(key, { removed: this }));
    session.outside.changed(session);
  }

  #begun(how: Begun): void {
    this.kept.begun = how;
    this.#keep();
  }

  #keep(): void {
    const keep = (): Promise<unknown> => keepUpload(this.kept);
    this.#keeping = this.#keeping.then(keep).catch(() => undefined);
  }

  async #forget(): Promise<void> {
    await this.#keeping;
    await forgetUpload(this.kept.id).catch(() => undefined);
    this.release();
  }
}

/** True if the text has a link to it, or shows it. */
function has(doc: Node, address: string): boolean {
  let isFound = false;
  doc.descendants((one) => {
    isFound ||= one.attrs.src === address || one.marks.some((two) => two.attrs.href === address);
    return !isFound;
  });
  return isFound;
}

/** Inserts the picture, or a link to another file, where the upload is shown. */
function inserted(state: EditorState, upload: Upload, stored: Stored): Transaction {
  const { tr } = state;
  const src = `/api/v1/attachments/${stored.id}`;
  // It was inserted just before a reload.
  if (has(state.doc, src)) return tr.setMeta(key, { removed: upload });
  const name = stored.name.replace(/\.\w+$/, "");
  const made = SHOWN.test(upload.kept.type)
    ? node("image").create({ src, alt: name === "image" ? null : name })
    : state.schema.text(stored.name, [mark("link").create({ href: src })]);
  const found = held(state).find((one) => one.upload === upload)?.pos ?? 0;
  const $at = state.doc.resolve(Math.min(found, state.doc.content.size));
  tr.setMeta(key, { removed: upload });
  const before = $at.nodeBefore;
  if (upload.kept.instead && before?.attrs.src === upload.kept.instead && made.isLeaf) {
    const { alt, title } = before.attrs;
    const attrs = { ...made.attrs, alt: alt ?? made.attrs.alt, title };
    return tr.replaceWith($at.pos - 1, $at.pos, made.type.create(attrs, null, before.marks));
  }
  const isText = $at.parent.inlineContent && !$at.parent.type.spec.code;
  if (isText) return tr.insert($at.pos, made);
  const line = node("paragraph").create(null, made);
  for (let depth = $at.depth; depth > 0; depth--) {
    const index = $at.index(depth - 1) + 1;
    if ($at.node(depth - 1).canReplaceWith(index, index, line.type)) {
      return tr.insert($at.after(depth), line);
    }
  }
  const index = $at.index(0);
  const isHere = $at.depth === 0 && state.doc.canReplaceWith(index, index, line.type);
  return tr.insert(isHere ? $at.pos : 0, line);
}
