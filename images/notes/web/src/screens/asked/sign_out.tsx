/** The dialog that signs out: what is not sent is sent first, kept, or deleted. */
import { useEffect, useState } from "preact/hooks";
import { dialog } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { sendDrafts } from "../../app/live";
import { signOut } from "../../app/session";
import { me } from "../../app/store";
import { words } from "../../app/words";
import { unsentPages } from "../../sync/drafts";
import { keptRequests } from "../../sync/kept_requests";
import { storedPages } from "../../sync/offline";
import { asked, ready } from "./words";

export { ready };

const [SEND_MS, SEND_ROUNDS] = [300, 100];

/** The pages with something that the server does not have, and the pages that it does not have. */
async function unsentOf(user: string): Promise<Set<string>> {
  const kept = (await keptRequests(user)).filter((one) => one.doubt);
  return new Set([...(await unsentPages(user)), ...kept.map((one) => one.page)]);
}

export function Screen() {
  const w = words.value;
  const a = asked.value;
  const [stored, setStored] = useState(0);
  const [unsent, setUnsent] = useState(0);
  const [error, setError] = useState("");
  const [isSending, setSending] = useState(false);
  useEffect(() => {
    void unsentOf(me.value?.id ?? "").then((found) => setUnsent(found.size));
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
    let left = await unsentOf(id);
    for (let round = 0; left.size && round < SEND_ROUNDS && me.value?.id === id; round += 1) {
      await new Promise((done) => setTimeout(done, SEND_MS));
      left = await unsentOf(id);
    }
    setSending(false);
    setUnsent(left.size);
    if (left.size) setError(a.stillUnsent);
    else if (me.value?.id === id) await leave(false);
  };
  return (
    <Modal label={w.signOut}>
      <Head title={a.signOutAsk} />
      {stored > 0 && <p>{a.signOutStored(stored)}</p>}
      {unsent > 0 && <p role="alert">{a.unsentPages(unsent)}</p>}
      {error && <p role="alert">{error}</p>}
      <div class="buttons">
        {(stored > 0 || unsent > 0) && (
          <button type="button" onClick={() => void leave(true)}>
            {a.signOutClear}
          </button>
        )}
        <button type="button" class={unsent > 0 ? "" : "primary"} onClick={() => void leave(false)}>
          {unsent > 0 ? a.signOutKeep : w.signOut}
        </button>
        {unsent > 0 && (
          <button type="button" class="primary" disabled={isSending} onClick={() => void send()}>
            {a.signOutSend}
          </button>
        )}
      </div>
    </Modal>
  );
}
