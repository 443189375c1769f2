/** Loads what large pages need, which most pages do without. */
import { Plugin, TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { writing } from "./limits";

/** Pages with fewer blocks are shown as a whole. */
const FEWEST = 500;

type Part = typeof import("./window");
/** What the search within a large page needs of the editor. */
const around = {
  words: writing,
  select(view: EditorView, from: number, to: number): void {
    const { tr, doc } = view.state;
    view.dispatch(tr.setSelection(TextSelection.create(doc, from, to)));
  },
};
let part: Part | undefined;
let loading: Promise<void> | undefined;

/** Resolves when a page with so many blocks can be drawn; without its part it is drawn as a whole. */
export async function prepare(blocks: number): Promise<void> {
  if (blocks < FEWEST || part) return;
  loading ??= import("./window")
    .then((found) => {
      part = found;
    })
    .catch(() => {
      loading = undefined;
    });
  await loading;
}

export const large = (): Plugin =>
  new Plugin({
    view(view) {
      let made: InstanceType<Part["Window"]> | undefined;
      const make = (): void => {
        if (part && !view.isDestroyed) made ??= new part.Window(view, FEWEST, around);
      };
      make();
      return {
        update(now, before) {
          if (made) made.update(now, before);
          else void prepare(now.state.doc.childCount).then(make);
        },
        destroy: () => made?.destroy(),
      };
    },
  });
