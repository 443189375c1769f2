/**
 * The question over the page after a sign-in has expired. The page under it stays as it is, and what is typed there is
 * stored on; the same person goes on with it. For anybody else it is hidden at once.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { request, UnreachableError } from "../../api/client";
import { userOfBrowser } from "../../api/signed_in";
import type { Me } from "../../api/types";
import { sendUnsent } from "../../app/editing";
import { here, hide, question, refresh, signInPath } from "../../app/session";
import { me, notice, site, userId } from "../../app/store";
import { words } from "../../app/words";
import { endSession, session } from "../../sync/database";
import { asked, ready } from "./words";

/** Who is typing is not interrupted: keys would go to a field that they did not choose. */
const QUIET_MS = 1000;
const LOOK_MS = 1000;
let typedAt = 0;
let isComposing = false;
let isAsking = false;

function noteKey(event: Event): void {
  typedAt = Date.now();
  isComposing = event.type !== "compositionend" && (event as KeyboardEvent).isComposing;
}
for (const kind of ["keydown", "compositionend"]) addEventListener(kind, noteKey, true);

async function whenQuiet(): Promise<void> {
  typedAt = Date.now();
  while (isComposing || Date.now() < typedAt + QUIET_MS)
    await new Promise((done) => setTimeout(done, 100));
}

/** Shows the question, once, when nobody is typing. */
export async function ask(): Promise<void> {
  if (isAsking || question.value) return;
  isAsking = true;
  const id = userId();
  try {
    // The next start shows nothing that is stored before the same person is signed in.
    await Promise.all([endSession(id), ready()]);
    await whenQuiet();
    // Meanwhile the same person, or another one, may have signed in in another tab.
    if (id === userId() && !(await session())?.isActive) question.value = Screen;
  } finally {
    isAsking = false;
  }
}

/** Hides the page of a person who is not the one of this browser any more, and shows that of the other one. */
async function leave(): Promise<void> {
  await hide();
  await refresh();
}

/** Keeps the question the only thing that answers to keys and clicks; gives the focus back at its end. */
function useAlone(id: string) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    // A key goes to the page if the focus is nowhere, as after a click beside the question.
    const keep = (event: KeyboardEvent): void => {
      if (!ref.current?.contains(event.target as Node)) event.stopPropagation();
    };
    const look = (): void => {
      if (userOfBrowser() !== id) void leave();
    };
    const show = (): void => {
      look();
      if (document.visibilityState === "visible" && userOfBrowser() === id) void refresh();
    };
    addEventListener("keydown", keep, true);
    document.addEventListener("visibilitychange", show);
    const looking = setInterval(look, LOOK_MS);
    return () => {
      removeEventListener("keydown", keep, true);
      document.removeEventListener("visibilitychange", show);
      clearInterval(looking);
      if (before instanceof HTMLElement && before.isConnected)
        before.focus({ preventScroll: true });
    };
  }, []);
  return ref;
}

function Password({ email, id }: { email: string; id: string }) {
  const w = words.value;
  const a = asked.value;
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  const isBusy = useRef(false);
  const signIn = async (): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setProblem("");
    try {
      const body = { email, password: field.current?.value };
      const found = await request<Me>("POST", "/api/v1/session", { body, isProbe: true });
      // The address may be that of another account by now.
      if (found.id !== id) await leave();
      else await refresh();
      if (found.id === userId() && !question.value) notice.value = a.signedInAgain;
      await sendUnsent();
    } catch (error) {
      const isAway = error instanceof UnreachableError;
      setProblem(isAway ? w.notReached : error instanceof Error ? error.message : String(error));
      field.current?.select();
    }
    isBusy.current = false;
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void signIn();
      }}
    >
      <label class="field">
        {a.email}
        <input type="email" value={email} readOnly autocomplete="username" />
      </label>
      <label class="field">
        {a.password}
        <input
          ref={field}
          type="password"
          required
          autofocus
          maxLength={1000}
          autocomplete="current-password"
        />
      </label>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <a class="button" href={signInPath()}>
          {a.somebodyElse}
        </a>
        <button class="primary">{w.signIn}</button>
      </div>
    </form>
  );
}

export function Screen() {
  const a = asked.value;
  const [who] = useState(me.value);
  const ref = useAlone(who?.id ?? "");
  if (!who) return null;
  return (
    <dialog
      ref={ref}
      class="modal"
      aria-labelledby="expired"
      aria-describedby="expired-text"
      onCancel={(event) => event.preventDefault()}
      // A browser closes it at a second Escape all the same.
      onClose={() => question.value && ref.current?.showModal()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <h2 id="expired">{a.expired}</h2>
      <p id="expired-text">{a.expiredText}</p>
      {site.value?.has_sign_on && (
        <p>
          <a class="button" href={`/auth/oidc/start?return_to=${encodeURIComponent(here())}`}>
            {a.organisation}
          </a>
        </p>
      )}
      <Password email={who.email} id={who.id} />
    </dialog>
  );
}
