/** A form with the text of a comment. What is typed is kept until it is sent or given up, also over a reload. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Person } from "../../api/types";
import { findPeople } from "../../app/mentionable";
import { userId } from "../../app/store";
import { words } from "../../app/words";
import { drafts, noteDraft } from "./drafts";
import { signOf, stored, typedAt, writable } from "./mentions";
import { beside } from "./words";

const MOST_CHARACTERS = 20_000;
/** The people who are offered behind an `@`, and which of them Enter takes. */
interface Offer {
  at: number;
  typed: string;
  found: Person[];
  chosen: number;
}

interface Props {
  /** What it is the text of, so that it is found again. */
  about: string;
  /** The page whose readers can be mentioned. */
  page: string;
  label: string;
  send: string;
  text?: string;
  /** Of a reply: the passage of its thread. */
  quote?: string;
  /** True for a form that nobody has just asked for: it leaves the focus where it is. */
  isQuiet?: boolean;
  /** Resolves to false if the server did not take it. */
  act: (text: string) => Promise<boolean>;
  close?: () => void;
}

export function TextForm({ about, page, label, send, text = "", act, close, ...rest }: Props) {
  const b = beside.value;
  const key = `${userId()} ${about}`;
  const [{ text: typed, people }, setTyped] = useState(drafts.get(key) ?? writable(text));
  const [offer, setOffer] = useState<Offer>();
  const listId = useId();
  const caret = useRef<number | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  // At once: what is typed next is for it.
  useLayoutEffect(() => {
    if (!rest.isQuiet) field.current?.focus();
    return () => {
      // A text that was emptied is none.
      if (drafts.get(key)?.text.trim() === "") noteDraft(key);
    };
  }, []);
  const now = offer?.found[offer.chosen];
  useEffect(() => {
    document.getElementById(`${listId}-${offer?.chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [offer]);
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    field.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [typed]);
  const type = (next: string, named = people): void => {
    noteDraft(key, { text: next, people: named, page, ...(rest.quote && { quote: rest.quote }) });
    setTyped({ text: next, people: named });
  };
  /** Offers people for what stands behind an `@` before the caret. */
  const look = (): void => {
    const area = field.current;
    const wanted =
      area && area.selectionStart === area.selectionEnd
        ? typedAt(area.value, area.selectionStart)
        : undefined;
    if (!wanted) {
      setOffer(undefined);
      return;
    }
    findPeople(page, wanted.typed, (found) => {
      const place = field.current && typedAt(field.current.value, field.current.selectionStart);
      const isSame = place?.at === wanted.at && place.typed === wanted.typed;
      if (isSame && document.activeElement === field.current)
        setOffer({ ...wanted, found, chosen: 0 });
    });
  };
  const pick = (one: Person): void => {
    const area = field.current;
    if (!offer || !area) return;
    const before = `${area.value.slice(0, offer.at)}${signOf(one.name)} `;
    caret.current = before.length;
    type(before + area.value.slice(area.selectionStart), [...people, one]);
    setOffer(undefined);
    area.focus();
  };
  /** The keys of the list while it is open; true if the key was for it. */
  const offered = (event: KeyboardEvent): boolean => {
    if (!offer || !now) return false;
    const { chosen, found } = offer;
    const steps: Record<string, number> = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
    const next = steps[event.key];
    const isPick = (event.key === "Enter" || event.key === "Tab") && !event.shiftKey;
    if (next !== undefined) setOffer({ ...offer, chosen: (next + found.length) % found.length });
    else if (event.key === "Escape") setOffer(undefined);
    else if (isPick && !event.ctrlKey && !event.metaKey) pick(now);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  const submit = async (): Promise<void> => {
    if (!typed.trim() || isSending) return;
    setSending(true);
    const isDone = await act(stored(typed.trim(), people));
    setSending(false);
    if (!isDone) {
      field.current?.focus();
      return;
    }
    noteDraft(key);
    setTyped({ text: "", people: [] });
  };
  return (
    <form
      class="comment-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label>
        <span class="unseen">{label}</span>
        <textarea
          ref={field}
          dir="auto"
          rows={3}
          maxLength={MOST_CHARACTERS}
          placeholder={label}
          readOnly={isSending}
          value={typed}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          {...(now
            ? { "aria-controls": listId, "aria-activedescendant": `${listId}-${offer?.chosen}` }
            : {})}
          onInput={(event) => {
            type(event.currentTarget.value);
            look();
          }}
          onClick={look}
          onBlur={() => setOffer(undefined)}
          onKeyDown={(event) => {
            if (event.isComposing || offered(event)) return;
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              void submit();
            } else if (event.key === "Escape" && close) {
              event.preventDefault();
              event.stopPropagation();
              close();
            }
          }}
        />
      </label>
      {offer && now && (
        <ul id={listId} role="listbox" aria-label={b.mention} class="options">
          {offer.found.map((one, place) => (
            <li
              key={one.id}
              id={`${listId}-${place}`}
              role="option"
              aria-selected={place === offer.chosen}
              class={place === offer.chosen ? "at" : ""}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => pick(one)}
            >
              <span dir="auto">{one.name}</span>
            </li>
          ))}
        </ul>
      )}
      <p class="unseen" role="status">
        {offer ? words.value.hits(offer.found.length) : ""}
      </p>
      <div class="acts">
        <button
          type="submit"
          class="primary"
          disabled={isSending || !typed.trim()}
          title={b.sendKey}
        >
          {send}
        </button>
        {close && (
          <button
            type="button"
            onClick={() => {
              noteDraft(key);
              close();
            }}
          >
            {words.value.cancel}
          </button>
        )}
      </div>
    </form>
  );
}
