/** A field with a list below it: what is typed finds entries, arrow keys go through them, Enter takes one. */
import { useEffect, useId, useState } from "preact/hooks";

export interface Option {
  id: string;
  text: string;
  detail?: string;
}

interface Props {
  label: string;
  hint?: string;
  typed: string;
  type: (typed: string) => void;
  options: readonly Option[];
  /** The entry that is taken already. */
  chosen?: string;
  pick: (id: string) => void;
  /** Said when there is nothing to choose from. */
  nothing: string;
  /** Takes the focus when its dialog opens. */
  isFirst?: boolean;
}

export function Picker(props: Props) {
  const { label, hint, typed, type, options, chosen = "", pick, nothing, isFirst = false } = props;
  const id = useId();
  const [at, setAt] = useState(0);
  const key = options.map((one) => one.id).join();
  useEffect(() => {
    const place = options.findIndex((one) => one.id === chosen);
    setAt(Math.max(0, place));
  }, [key]);
  const now = options[at];
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    const count = options.length;
    const to: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1 + count };
    const next = to[event.key];
    if (next !== undefined && count) {
      event.preventDefault();
      setAt(next % count);
    } else if (event.key === "Enter") {
      // It takes an entry; the form is sent by its button.
      event.preventDefault();
      if (now) pick(now.id);
    } else if (event.key === "Escape" && typed) {
      event.preventDefault();
      event.stopPropagation();
      type("");
    }
  };
  return (
    <div class="picker">
      <label class="field">
        {label}
        <input
          role="combobox"
          aria-expanded={options.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          {...(now ? { "aria-activedescendant": `${id}-${at}` } : {})}
          {...(hint ? { "aria-describedby": `${id}-hint` } : {})}
          autofocus={isFirst}
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          maxLength={100}
          value={typed}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </label>
      {hint && (
        <small id={`${id}-hint`} class="faint">
          {hint}
        </small>
      )}
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        class="options"
        hidden={!options.length}
      >
        {options.map((one, place) => (
          <li
            key={one.id}
            id={`${id}-${place}`}
            role="option"
            data-option={one.id}
            aria-selected={one.id === chosen}
            class={place === at ? "at" : ""}
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => {
              setAt(place);
              pick(one.id);
            }}
          >
            <span dir="auto">{one.text}</span>
            {one.detail && (
              <small class="faint" dir="auto">
                {one.detail}
              </small>
            )}
          </li>
        ))}
      </ul>
      <p role="status" class={options.length ? "unseen" : "faint note"}>
        {options.length ? "" : nothing}
      </p>
    </div>
  );
}
