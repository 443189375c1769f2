/** The sessions of an account: where one is signed in; end one, or all others. */
import { useState } from "preact/hooks";
import { notice } from "../../app/store";
import { when } from "../../app/words";
import { manage } from "../space/words";
import { adminWords, Ask, send, State, useLoaded } from "./tools";

interface Session {
  id: string;
  browser: string | null;
  system: string | null;
  created_at: string;
  last_seen_at: string;
  is_current: boolean;
}

const PATH = "/api/v1/sessions";
const focusHeading = (): void => document.getElementById("account-sessions")?.focus();

function Row({ session, ended }: { session: Session; ended: () => Promise<void> }) {
  const w = manage.value;
  const [isAsking, setAsking] = useState(false);
  const name = w.device(session.browser, session.system);
  const begun = when(session.created_at);
  const end = async (): Promise<void> => {
    await send("DELETE", `${PATH}/${session.id}`);
    notice.value = w.sessionEnded(name);
    focusHeading();
    await ended();
  };
  return (
    <li data-session={session.id}>
      <div class="line-item">
        <div class="grow">
          <strong>{name}</strong>
          <small>
            {w.sessionBegun(begun)}
            {!session.is_current && ` · ${w.sessionUsed(when(session.last_seen_at))}`}
          </small>
        </div>
        {session.is_current ? (
          <span class="chip">{w.thisSession}</span>
        ) : (
          <button
            type="button"
            aria-label={w.endSession(name, begun)}
            onClick={() => setAsking(true)}
          >
            {adminWords().end}
          </button>
        )}
      </div>
      {isAsking && (
        <Ask
          question={w.endSessionAsk(name)}
          title={adminWords().end}
          act={end}
          cancel={() => setAsking(false)}
        />
      )}
    </li>
  );
}

export function Sessions() {
  const w = manage.value;
  const sessions = useLoaded<Session[]>(PATH);
  const [isAsking, setAsking] = useState(false);
  const listed = [...(sessions.data ?? [])].sort(
    (one, other) => Number(other.is_current) - Number(one.is_current),
  );
  const endOthers = async (): Promise<void> => {
    const { ended } = await send<{ ended: number }>("DELETE", PATH);
    notice.value = w.sessionsEnded(ended);
    setAsking(false);
    focusHeading();
    await sessions.again();
  };
  return (
    <section aria-labelledby="account-sessions">
      <h2 id="account-sessions" tabIndex={-1}>
        {w.sessions}
      </h2>
      <p class="faint">{w.sessionsText}</p>
      <State of={sessions} />
      <ul class="rows">
        {listed.map((one) => (
          <Row key={one.id} session={one} ended={sessions.again} />
        ))}
      </ul>
      {listed.length > 1 && (
        <button type="button" onClick={() => setAsking(true)}>
          {w.endOthers}
        </button>
      )}
      {isAsking && (
        <Ask
          question={w.endOthersAsk}
          title={w.endOthers}
          act={endOthers}
          cancel={() => setAsking(false)}
        />
      )}
    </section>
  );
}
