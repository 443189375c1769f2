/** The words in place of a picture that is selected: for who does not see it. */
import { NodeSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { useRef } from "preact/hooks";
import { words } from "../app/words";

export function AltText({ view }: { view: EditorView }) {
  const w = words.value;
  const field = useRef<HTMLInputElement>(null);
  const { node } = view.state.selection as NodeSelection;
  const set = (event: Event): void => {
    event.preventDefault();
    const { tr, selection } = view.state;
    // Somebody else may have deleted it meanwhile.
    if (!(selection instanceof NodeSelection) || selection.node.type !== node.type) return;
    const alt = field.current?.value.trim() || null;
    tr.setNodeAttribute(selection.from, "alt", alt);
    view.dispatch(tr.setSelection(NodeSelection.create(tr.doc, selection.from)));
    view.focus();
  };
  return (
    <form
      class="link-form"
      onSubmit={set}
      onKeyDown={(event) => {
        if (event.key === "Escape") view.focus();
      }}
    >
      <label>
        {w.alt}
        <input ref={field} defaultValue={node.attrs.alt ?? ""} dir="auto" maxLength={1000} />
      </label>
      <button type="submit" class="primary">
        {w.apply}
      </button>
    </form>
  );
}
