/** The modal dialogs: keyboard shortcuts, sign-out, new page. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { request } from "../api/client";
import type { PageNode } from "../api/types";
import { unsentPages } from "../sync/drafts";
import { storedPages } from "../sync/offline";
import { commands, dialog, leaveFor, newPageBelow } from "./commands";
import { keyName } from "./keys";
import { Icon } from "./icons";
import { sendDrafts } from "./live";
import { prefer, preferences } from "./preferences";
import { signOut } from "./session";
import { currentSpace, me, notice } from "./store";
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

function Keys() {
  const w = words.value;
  const keyed = commands().filter((one) => one.key);
  return (
    <Modal label={w.shortcuts}>
      <Head title={w.shortcuts} />
      <dl class="keys">
        {keyed.map((one) => (
          <div key={one.id}>
            <dt>{one.title}</dt>
            <dd>
              <kbd>{keyName(one.key ?? "")}</kbd>
            </dd>
          </div>
        ))}
        <div>
          <dt>{w.treeKeys}</dt>
          <dd>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>→</kbd> <kbd>←</kbd>
          </dd>
        </div>
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={preferences.value.singleKeys}
          onChange={(event) => prefer({ singleKeys: event.currentTarget.checked })}
        />
        <span>
          {w.singleKeys}
          <small>{w.singleKeysText}</small>
        </span>
      </label>
    </Modal>
  );
}

const [SEND_MS, SEND_ROUNDS] = [300, 100];

function SignOut() {
  const w = words.value;
  const [stored, setStored] = useState(0);
  const [unsent, setUnsent] = useState(0);
  const [error, setError] = useState("");
  const [isSending, setSending] = useState(false);
  useEffect(() => {
    void unsentPages(me.value?.id ?? "").then((found) => setUnsent(found.size));
    void storedPages(me.value?.id ?? "").then((pages) => setStored(pages.length));
  }, []);
  const leave = async (isClearing: boolean): Promise<void> => {
    try {
      await signOut(isClearing);
      dialog.value = "";
    } catch {
      setError(w.offlineText);
    }
  };
  const send = async (): Promise<void> => {
    setError("");
    setSending(true);
    const id = me.value?.id ?? "";
    await sendDrafts().catch(() => undefined);
    let left = await unsentPages(id);
    for (let round = 0; left.size && round < SEND_ROUNDS && me.value?.id === id; round += 1) {
      await new Promise((done) => setTimeout(done, SEND_MS));
      left = await unsentPages(id);
    }
    setSending(false);
    setUnsent(left.size);
    if (left.size) setError(w.stillUnsent);
    else if (me.value?.id === id) await leave(false);
  };
  return (
    <Modal label={w.signOut}>
      <Head title={w.signOutAsk} />
      {stored > 0 && <p>{w.signOutStored(stored)}</p>}
      {unsent > 0 && <p role="alert">{w.unsentPages(unsent)}</p>}
      {error && <p role="alert">{error}</p>}
      <div class="buttons">
        {(stored > 0 || unsent > 0) && (
          <button type="button" onClick={() => void leave(true)}>
            {w.signOutClear}
          </button>
        )}
        <button type="button" class={unsent > 0 ? "" : "primary"} onClick={() => void leave(false)}>
          {unsent > 0 ? w.signOutKeep : w.signOut}
        </button>
        {unsent > 0 && (
          <button type="button" class="primary" disabled={isSending} onClick={() => void send()}>
            {w.signOutSend}
          </button>
        )}
      </div>
    </Modal>
  );
}

function NewPage() {
  const w = words.value;
  const [error, setError] = useState("");
  const space = currentSpace.value;
  const below = newPageBelow.value;
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const title = new FormData(event.currentTarget as HTMLFormElement).get("title");
    try {
      const body = { title, parent_id: below };
      const made = await request<PageNode>("POST", `/api/v1/spaces/${space?.id}/nodes`, { body });
      leaveFor(`/p/${made.id}/edit`);
    } catch (failed) {
      setError(failed instanceof Error && failed.message ? failed.message : w.failed);
    }
  };
  return (
    <Modal label={below ? w.newPageHere : w.newPage}>
      <Head title={below ? w.newPageHere : w.newPage} />
      <form onSubmit={(event) => void make(event)}>
        <label class="field">
          {w.title}
          <input name="title" required maxLength={300} autocomplete="off" autofocus />
        </label>
        {error && <p role="alert">{error}</p>}
        <div class="buttons">
          <button type="submit" class="primary">
            {w.create}
          </button>
        </div>
      </form>
    </Modal>
  );
}

export function Dialogs() {
  switch (dialog.value) {
    case "keys":
      return <Keys />;
    case "sign out":
      return <SignOut />;
    case "new page":
      return <NewPage />;
    default:
      return null;
  }
}

/** Says what has happened, to eyes for a while and to screen readers at once. */
export function Notice() {
  const text = notice.value;
  useEffect(() => {
    if (!text) return undefined;
    const timer = setTimeout(() => {
      notice.value = "";
    }, 6000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div class="notice" role="status" aria-live="polite">
      {text && <p>{text}</p>}
    </div>
  );
}
