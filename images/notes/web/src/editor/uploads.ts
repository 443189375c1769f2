/**
 * Files that are pasted, dropped or picked: uploaded, shown where they will be, then inserted there.
 *
 * What is on its way is a decoration, never a part of the document. Invariant: a file stays in its place until
 * it is inserted or a person gives it up, also while its upload fails, after "Done", and after a reload.
 */
import { type EditorState, Plugin, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { takeStored } from "../sync/drafts";
import { keptFile, keptUpload, keptUploads } from "../sync/kept_files";
import { placeNow } from "./kept_place";
import { type Change, type Held, held, key, Upload } from "./one_upload";
import type { Session } from "./session";
import { draw } from "./upload_view";

/** The uploads that this tab goes on with. */
const taken = new Set<string>();

/** Goes on with the uploads of a page that were under way before a reload. */
export async function resumeUploads(session: Session): Promise<void> {
  for (const { id, page } of await keptUploads(session.user)) {
    const isHere = held(session.state).some(({ upload: one }) => one.kept.id === id);
    if (page !== session.page || isHere || taken.has(id)) continue;
    taken.add(id);
    const mine = await takeStored(id, () => keptUpload(id)).catch(() => undefined);
    const release = (): void => {
      taken.delete(id);
      mine?.release();
    };
    if (!mine) {
      release();
      continue;
    }
    const kept = mine.found;
    const file = await keptFile(kept);
    const made = new Upload(session, kept, file, release);
    made.isKept = file !== undefined;
    const pos = await placeNow(session, kept.place);
    session.apply(session.now().tr.setMeta(key, { added: [{ upload: made, pos }] }));
    void made.start();
  }
}

export const isUploading = (state: EditorState): boolean => held(state).length > 0;

/** True if a reload would lose a file: this browser could not store it. */
export const isFileLost = (state: EditorState): boolean =>
  held(state).some(({ upload: one }) => one.file && !one.isKept);

/** Stores where the files will be, when all edits are sent. */
export function keepPlaces(state: EditorState): void {
  for (const { upload: one, pos } of held(state)) one.keepPlace(pos);
}

/** Ends all uploads of a session that is over. */
export function stopUploads(state: EditorState): void {
  for (const { upload } of held(state)) upload.stop();
}

/** Tries again what has failed. */
export function retryUploads(state: EditorState): void {
  for (const { upload } of held(state)) if (upload.reason) void upload.start();
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

/** Begins to upload files to the page, to be inserted at a place; `instead` of a picture that is before it. */
export function upload(
  view: EditorView,
  session: Session,
  files: File[],
  pos: number,
  instead = "",
): void {
  const added = files.map((file) => ({ upload: Upload.of(session, file, pos, instead), pos }));
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
              ...{ key: one.kept.id, side: -1, ignoreSelection: true, stopEvent: () => true },
            }),
          ),
        ),
      handlePaste(view, event) {
        const data = event.clipboardData;
        // Programs for texts and tables also copy a picture of what is copied.
        const isText = data?.getData("text/html") && data.getData("text/plain");
        return !isText && take(view, data?.files, view.state.selection.to);
      },
      transformPastedHTML(html, view) {
        // The schema takes no picture that is in the HTML itself.
        if (/data:image/i.test(html))
          void import("./inline_pictures").then(({ filesIn }) => {
            const session = current();
            if (!session || view.isDestroyed) return;
            upload(view, session, filesIn(html), view.state.selection.to);
          });
        return html;
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
