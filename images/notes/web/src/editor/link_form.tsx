/** The question for a link's address. */
import type { EditorView } from "prosemirror-view";
import { useEffect, useRef, useState } from "preact/hooks";
import { words } from "../app/words";
import { addressFor } from "../doc/address";
import { mark } from "./keys";
import { isLinking } from "./plugins";

export function LinkForm({ view }: { view: EditorView }) {
  const w = words.value;
  const { from, to, empty, $from } = view.state.selection;
  const before = mark("link").isInSet($from.marks())?.attrs.href ?? "";
  const field = useRef<HTMLInputElement>(null);
  const [isWrong, setWrong] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const leave = (): void => {
    isLinking.value = false;
    view.focus();
  };
  const set = (event: Event): void => {
    event.preventDefault();
    const typed = field.current?.value.trim() ?? "";
    const href = typed && addressFor(typed);
    if (typed && !href) {
      setWrong(true);
      return;
    }
    const { tr, schema } = view.state;
    if (empty && href) {
      tr.insert(from, schema.text(href, [mark("link").create({ href })]));
    } else {
      tr.removeMark(from, to, mark("link"));
      if (href) tr.addMark(from, to, mark("link").create({ href }));
    }
    view.dispatch(tr);
    leave();
  };
  return (
    <form
      class="link-form"
      onSubmit={set}
      onKeyDown={(event) => {
        if (event.key === "Escape") leave();
      }}
    >
      <label>
        {w.address}
        <input ref={field} defaultValue={before} aria-invalid={isWrong} dir="ltr" />
      </label>
      <button type="submit" class="primary">
        {w.apply}
      </button>
      <button type="button" onClick={leave}>
        {w.cancel}
      </button>
      {isWrong && <p role="alert">{w.wrongAddress}</p>}
    </form>
  );
}
