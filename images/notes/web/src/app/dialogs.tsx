/** The frame of the modal dialogs, and the line that says what has happened. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { dialog } from "./commands";
import { Icon } from "./icons";
import { notice } from "./store";
import { words } from "./words";

interface ModalProps {
  label: string;
  kind?: string;
  children: ComponentChildren;
}

/** A dialog that covers the page; Escape or a click beside it closes it. */
export function Modal({ label, kind = "", children }: ModalProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected)
        before.focus({ preventScroll: true });
    };
  }, []);
  const close = (): void => {
    dialog.value = "";
  };
  return (
    <dialog
      ref={ref}
      class={`modal ${kind}`}
      aria-label={label}
      onClose={close}
      onClick={(event) => {
        if (event.target === ref.current) close();
      }}
    >
      {children}
    </dialog>
  );
}

export function Head({ title }: { title: string }) {
  return (
    <header class="modal-head">
      <h2>{title}</h2>
      <button
        type="button"
        class="quiet"
        aria-label={words.value.close}
        onClick={() => {
          dialog.value = "";
        }}
      >
        <Icon name="close" />
      </button>
    </header>
  );
}

/** Says what has happened, to eyes for a while and to screen readers at once. */
export function Notice() {
  const text = notice.value;
  useEffect(() => {
    if (!text) return undefined;
    const timer = setTimeout(() => {
      // The next text may be there by now, and this timer not yet cleared.
      if (notice.value === text) notice.value = "";
    }, 6000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="notice" role="status" aria-live="polite">
      {text && <p>{text}</p>}
    </div>
  );
}
