/**
 * Files that are pasted, dropped or picked: uploaded, shown where they will be, then inserted there.
 *
 * What is on its way is a decoration, never a part of the document. Invariant: a file stays in its place until
 * it is inserted or a person gives it up, also while its upload fails and after "Done".
 */
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { ApiError } from "../api/client";
import { notice } from "../app/store";
import { words } from "../app/words";
import { FileUpload, type Stored } from "../sync/upload";
import { mark, node } from "./keys";
import type { Session } from "./session";
import { draw } from "./upload_view";
import { wire } from "./upload_wire";

const SHOWN = /^image\/(avif|gif|jpeg|png|svg\+xml|webp)$/;

let count = 0;

/** A file on its way, or one whose upload has failed. */
export class Upload {
  readonly id = `upload-${++count}`;
  share = 0;
  /** Why it has failed, in words; empty while it is on its way. */
  reason = "";
  /** Draws the upload anew; set by what shows it. */
  show = (): void => undefined;
  #stopping = new AbortController();
  readonly #sending: FileUpload;

  constructor(
    readonly session: Session,
    readonly file: File,
  ) {
    this.#sending = new FileUpload(session.page, file, wire());
  }

  async start(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.reason = "";
    this.show();
    try {
      const stored = await this.#sending.run(this.#stopping.signal, (bytes) => {
        this.share = bytes / Math.max(1, this.file.size);
        this.show();
      });
      this.session.apply(inserted(this.session.state, this, stored));
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const w = words.value;
      this.reason = error instanceof ApiError ? error.message : w.notReached;
      notice.value = w.uploadFailed(this.file.name, this.reason);
      this.show();
    }
  }

  /** Ends the upload, whatever it has come to. */
  stop(): void {
    this.#stopping.abort();
    this.#sending.giveUp();
  }

  /** Ends the upload and takes it out of the text. */
  remove(): void {
    this.stop();
    const { session } = this;
    session.apply(session.state.tr.setMeta(key, { removed: this }));
    session.outside.changed(session);
  }
}

interface Held {
  upload: Upload;
  pos: number;
}
type Change = { added: Held[] } | { removed: Upload };

const key = new PluginKey<readonly Held[]>("uploads");
const held = (state: EditorState): readonly Held[] => key.getState(state) ?? [];

export const isUploading = (state: EditorState): boolean => held(state).length > 0;

/** Ends all uploads of a session that is over. */
export function stopUploads(state: EditorState): void {
  for (const { upload } of held(state)) upload.stop();
}

/** Tries again what has failed. */
export function retryUploads(state: EditorState): void {
  for (const { upload } of held(state)) if (upload.reason) void upload.start();
}

/** Inserts the picture, or a link to another file, where the upload is shown. */
function inserted(state: EditorState, upload: Upload, stored: Stored): Transaction {
  const { tr } = state;
  const src = `/api/v1/attachments/${stored.id}`;
  const name = stored.name.replace(/\.\w+$/, "");
  const made = SHOWN.test(upload.file.type)
    ? node("image").create({ src, alt: name === "image" ? null : name })
    : state.schema.text(stored.name, [mark("link").create({ href: src })]);
  const found = held(state).find((one) => one.upload === upload)?.pos ?? 0;
  const $at = state.doc.resolve(Math.min(found, state.doc.content.size));
  tr.setMeta(key, { removed: upload });
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

/** Where the uploads are after a transaction; those that come later stay behind what is inserted. */
function mapped(tr: Transaction, before: readonly Held[]): readonly Held[] {
  const change = tr.getMeta(key) as Change | undefined;
  const at =
    change && "removed" in change ? before.findIndex((o) => o.upload === change.removed) : -1;
  const moved = before.map(({ upload, pos }, index) => ({
    upload,
    pos: tr.mapping.map(pos, at >= 0 && index > at ? 1 : -1),
  }));
  if (at >= 0) moved.splice(at, 1);
  return change && "added" in change ? [...moved, ...change.added] : moved;
}

/** Begins to upload files to the page, to be inserted at a place. */
export function upload(view: EditorView, session: Session, files: File[], pos: number): void {
  const added = files.map((file) => ({ upload: new Upload(session, file), pos }));
  view.dispatch(view.state.tr.setMeta(key, { added }));
  for (const one of added) void one.upload.start();
}

export function uploads(current: () => Session | undefined): Plugin {
  const take = (view: EditorView, given: FileList | undefined, pos: number): boolean => {
    const session = current();
    const files = [...(given ?? [])];
    if (session && files.length) upload(view, session, files, pos);
    return files.length > 0;
  };
  return new Plugin<readonly Held[]>({
    key,
    state: { init: () => [], apply: mapped },
    props: {
      decorations: (state) =>
        DecorationSet.create(
          state.doc,
          held(state).map(({ upload: one, pos }) =>
            Decoration.widget(pos, () => draw(one), {
              ...{ key: one.id, side: -1, ignoreSelection: true, stopEvent: () => true },
            }),
          ),
        ),
      handlePaste(view, event) {
        const data = event.clipboardData;
        // Programs for texts and tables also copy a picture of what is copied.
        const isText = data?.getData("text/html") && data.getData("text/plain");
        return !isText && take(view, data?.files, view.state.selection.to);
      },
      handleDrop(view, event, _slice, isMoved) {
        if (isMoved) return false;
        const found = view.posAtCoords({ left: event.clientX, top: event.clientY });
        return take(view, event.dataTransfer?.files, found?.pos ?? view.state.selection.to);
      },
    },
    view(view) {
      const isFile = (event: DragEvent): boolean =>
        !event.defaultPrevented && event.dataTransfer?.types.includes("Files") === true;
      // A file that misses the text would open in place of the page.
      const over = (event: DragEvent): void => {
        if (isFile(event)) event.preventDefault();
      };
      const drop = (event: DragEvent): void => {
        if (!isFile(event)) return;
        event.preventDefault();
        take(view, event.dataTransfer?.files, view.state.selection.to);
      };
      const pick = (event: Event): void => {
        const field = event.target as HTMLInputElement;
        take(view, field.files ?? undefined, view.state.selection.to);
      };
      addEventListener("dragover", over);
      addEventListener("drop", drop);
      view.dom.addEventListener("pick", () => {
        const field = document.createElement("input");
        Object.assign(field, { type: "file", multiple: true });
        field.addEventListener("change", pick);
        field.click();
      });
      return {
        destroy() {
          removeEventListener("dragover", over);
          removeEventListener("drop", drop);
        },
      };
    },
  });
}
