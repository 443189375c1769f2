/** The settings of single sign-on. They are tried, by a sign-in in another tab, before they are used. */
import { useState } from "preact/hooks";
import { notice } from "../../app/store";
import { manage } from "../space/words";
import { adminWords, Ask, Field, Form, send, State, textOf, useLoaded } from "./tools";
import { type Trial, TrialOf } from "./trial";

export interface SignOnState {
  configured: boolean;
  from_environment: boolean;
  redirect_uri: string;
  issuer: string | null;
  client_id: string | null;
  groups_claim: string | null;
  admin_group: string | null;
}

const TRIALS = "/api/v1/settings/oidc/trials";

function Settings({ now, begun }: { now: SignOnState; begun: (trial: Trial) => void }) {
  const w = manage.value;
  const begin = async (fields: FormData): Promise<void> => {
    const body = {
      issuer: textOf(fields, "issuer").trim(),
      client_id: textOf(fields, "client_id").trim(),
      client_secret: textOf(fields, "client_secret") || null,
      groups_claim: textOf(fields, "groups_claim").trim() || null,
      admin_group: textOf(fields, "admin_group").trim() || null,
    };
    begun(await send<Trial>("POST", TRIALS, body));
  };
  return (
    <Form title={w.tryThem} act={begin} isKept>
      <Field
        name="issuer"
        label={w.issuer}
        value={now.issuer ?? ""}
        most={500}
        hint={w.issuerHint}
      />
      <Field name="client_id" label={w.clientId} value={now.client_id ?? ""} most={500} />
      <Field
        name="client_secret"
        label={w.clientSecret}
        type="password"
        complete="new-password"
        most={2000}
        isOptional={now.configured}
        hint={now.configured ? w.secretKept : w.secretHint}
      />
      <div class="two">
        <Field
          name="groups_claim"
          label={w.groupsClaim}
          value={now.groups_claim ?? ""}
          most={200}
          isOptional
        />
        <Field
          name="admin_group"
          label={w.adminGroup}
          value={now.admin_group ?? ""}
          most={200}
          isOptional
          hint={w.adminGroupHint}
        />
      </div>
    </Form>
  );
}

/** The id of the trial in the address; the tab that has signed in comes back with it. */
const trialOfAddress = (): string => {
  const id = new URLSearchParams(location.search).get("trial") ?? "";
  return /^[0-9a-f-]{36}$/.test(id) ? id : "";
};

export function SignOn() {
  const w = manage.value;
  const state = useLoaded<SignOnState>("/api/v1/settings/oidc");
  const [trial, setTrial] = useState(trialOfAddress);
  const [isAsking, setAsking] = useState(false);
  const now = state.data;
  const show = (id: string): void => {
    setTrial(id);
    // A reload shows the same trial again.
    history.replaceState(history.state, "", location.pathname + (id ? `?trial=${id}` : ""));
  };
  const remove = async (): Promise<void> => {
    await send("DELETE", "/api/v1/settings/oidc");
    notice.value = w.signOnRemoved;
    setAsking(false);
    document.getElementById("admin-part")?.focus();
    await state.again();
  };
  const used = async (): Promise<void> => {
    notice.value = w.used;
    show("");
    document.getElementById("admin-part")?.focus();
    await state.again();
  };
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part" tabIndex={-1}>
        {adminWords().parts["sign-on"]}
      </h2>
      <p class="faint">{w.signOnText}</p>
      <State of={state} />
      {now && (
        <>
          <p>{now.issuer ? w.signOnOn(now.issuer) : w.signOnOff}</p>
          {trial && <TrialOf key={trial} path={`${TRIALS}/${trial}`} used={used} />}
          {now.from_environment ? (
            <p>{w.signOnFixed}</p>
          ) : (
            <>
              <p>
                {w.register} <code class="wrap">{now.redirect_uri}</code>
              </p>
              <Settings key={now.issuer} now={now} begun={(made) => show(made.id)} />
            </>
          )}
          {now.configured && !now.from_environment && (
            <button type="button" onClick={() => setAsking(true)}>
              {w.removeSignOn}
            </button>
          )}
          {isAsking && (
            <Ask
              question={w.removeSignOnAsk}
              title={w.removeSignOn}
              act={remove}
              cancel={() => setAsking(false)}
            />
          )}
        </>
      )}
    </section>
  );
}
