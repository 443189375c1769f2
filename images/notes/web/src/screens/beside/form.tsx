/** A form with the text of a comment. What is typed is kept until it is sent or given up. */
import { useEffect, useRef, useState } from "preact/hooks";
import { userId } from "../../app/store";
import { words } from "../../app/words";
import { beside } from "./words";

const MOST_CHARACTERS = 20_000;
const drafts = new Map<string, string>();

interface Props {
  /** What it is the text of, so that it is found again. */
  about: string;
  label: string;
  send: string;
  text?: string;
  /** Resolves to false if the server did not take it. */
  act: (text: string) => Promise<boolean>;
  close?: () => void;
}

export function TextForm({ about, label, send, text = "", act, close }: Props) {
  const b = beside.value;
  const key = `${userId()} ${about}`;
  const [typed, setTyped] = useState(drafts.get(key) ?? text);
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const type = (next: string): void => {
    drafts.set(key, next);
    setTyped(next);
  };
  const submit = async (): Promise<void> => {
    if (!typed.trim() || isSending) return;
    setSending(true);
    const isDone = await act(typed.trim());
    setSending(false);
    if (!isDone) {
      field.current?.focus();
      return;
    }
    drafts.delete(key);
    setTyped("");
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
          value={typed}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.isComposing) return;
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
              drafts.delete(key);
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
