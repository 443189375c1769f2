/** A trial of single sign-on: waits for the sign-in in the other tab, and shows what came of it. */
import { useEffect, useRef } from "preact/hooks";
import { manage } from "../space/words";
import { Form, send, useLoaded } from "./tools";

interface Account {
  kind: "known" | "adopted" | "new" | "refused";
  name: string;
  email: string;
  is_admin: boolean;
  groups: string[] | null;
  problem: string | null;
}

export interface Trial {
  id: string;
  start: string;
  state: "waiting" | "done" | "failed";
  issuer: string;
  result: {
    claims: Record<string, unknown>;
    account: Account | null;
    problem: string | null;
  } | null;
}

const PAUSE_MS = 2000;

function AccountOf({ account }: { account: Account }) {
  const w = manage.value;
  return (
    <>
      <p>
        {w.accountKinds[account.kind](`${account.name} (${account.email})`)} {account.problem}
      </p>
      {account.kind !== "refused" && (
        <>
          <p>{account.is_admin ? w.willAdminister : w.willNotAdminister}</p>
          <p>{account.groups ? w.groupsGot(account.groups) : w.noGroupsClaim}</p>
        </>
      )}
    </>
  );
}

function Claims({ claims }: { claims: Record<string, unknown> }) {
  const w = manage.value;
  return (
    <table class="grid claims">
      <caption>{w.claims}</caption>
      <thead>
        <tr>
          <th scope="col">{w.claim}</th>
          <th scope="col">{w.value}</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(claims).map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td dir="auto">{typeof value === "string" ? value : JSON.stringify(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function TrialOf({ path, used }: { path: string; used: () => Promise<void> }) {
  const w = manage.value;
  const root = useRef<HTMLDivElement>(null);
  const loaded = useLoaded<Trial>(path);
  const trial = loaded.data;
  const isThere = trial !== undefined;
  useEffect(() => {
    if (isThere) root.current?.focus();
  }, [isThere]);
  useEffect(() => {
    if (trial?.state !== "waiting" || loaded.problem) return undefined;
    const timer = setInterval(() => void loaded.again(), PAUSE_MS);
    return () => clearInterval(timer);
  }, [trial?.state, loaded.problem]);
  const adopt = async (): Promise<void> => {
    await send("POST", `${path}/use`);
    await used();
  };
  if (!trial || loaded.problem)
    return loaded.problem ? (
      <p class="refused" role="alert">
        {w.trialGone}
      </p>
    ) : null;
  const { state, result } = trial;
  return (
    <div
      ref={root}
      class="sheet"
      role="group"
      aria-labelledby="trial-title"
      tabIndex={-1}
      data-trial={state}
    >
      <h3 id="trial-title">{w.trial}</h3>
      {state !== "done" && <p>{w.trialText(trial.issuer)}</p>}
      <p role="status">
        <strong>
          {{ waiting: w.trialWaits, done: w.trialDone, failed: w.trialFailed }[state]}
        </strong>{" "}
        {result?.problem}
      </p>
      {result?.account && <AccountOf account={result.account} />}
      {result && state === "done" && <Claims claims={result.claims} />}
      {state !== "done" && (
        <div class="buttons">
          <a class="button primary" href={trial.start} target="_blank" rel="noopener">
            {w.trialStart}
          </a>
        </div>
      )}
      {state === "done" && (
        <Form title={w.useThem} act={adopt}>
          {null}
        </Form>
      )}
    </div>
  );
}
