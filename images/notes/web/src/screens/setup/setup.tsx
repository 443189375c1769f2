/** The first setup: the site, the first administrator, a tour; then straight into the workspace. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, request } from "../../api/client";
import { prefer } from "../../app/preferences";
import { arrive } from "../../app/router";
import { pagePath } from "../../app/routes";
import { locale, words } from "../../app/words";
import { languages, nameOf } from "../../words/catalogues";
import type { Job, ReportLine } from "../transfer/job";
import { isWorking } from "../transfer/job";
import { ready, transfer } from "../transfer/words";

export { ready };

interface SetupState {
  done: boolean;
  origin: string;
}

interface Given {
  site_name: string;
  name: string;
  email: string;
  password: string;
  demo: string;
}

const STEPS = 3;
const LEAST_PASSWORD = 10;
const EACH_MS = 300;
const MOST_WAITS = 50;

/** The address of the tour; that of the workspace if the import of the tour takes too long, or failed. */
async function tour(): Promise<string> {
  for (let n = 0; n < MOST_WAITS; n += 1) {
    const [job] = await get<Job[]>("/api/v1/jobs");
    if (!job) break;
    if (!isWorking(job)) {
      const lines = await get<ReportLine[]>(`/api/v1/jobs/${job.id}/report`);
      // The first page that is reported is the top of the tour.
      const top = lines.find((line) => line.outcome === "page" && line.node_id);
      return top?.node_id ? pagePath(top.node_id) : "/w";
    }
    await new Promise((done) => setTimeout(done, EACH_MS));
  }
  return "/w";
}

interface FieldProps {
  name: keyof Given;
  label: string;
  type: "text" | "email" | "password";
  complete: string;
  given: Given;
  set: (change: Partial<Given>) => void;
  hint?: string;
  refused?: boolean;
}

function Field({ name, label, type, complete, given, set, hint, refused = false }: FieldProps) {
  const shared = {
    name,
    required: true,
    value: given[name],
    autocomplete: complete,
    maxLength: type === "password" ? 1024 : type === "email" ? 254 : 120,
    ...(type === "password" ? { minLength: LEAST_PASSWORD } : {}),
    ...(refused ? { "aria-invalid": true } : {}),
    onInput: (event: Event) =>
      set({ [name]: (event.currentTarget as HTMLInputElement).value } as Partial<Given>),
  };
  return (
    <label class="field">
      {label}
      {type === "text" && <input type="text" {...shared} />}
      {type === "email" && <input type="email" {...shared} />}
      {type === "password" && <input type="password" {...shared} />}
      {hint && <small class="faint">{hint}</small>}
    </label>
  );
}

/** Says what a proxy has to be told if the application sees another address than the browser. */
function Seen({ state }: { state: SetupState | undefined }) {
  const t = transfer.value;
  if (!state || state.origin === location.origin) return null;
  return (
    <div class="card" role="alert">
      <p>{t.otherOrigin(location.origin, state.origin)}</p>
      <p>
        <code>PROTOCOL_HEADER</code>, <code>HOST_HEADER</code>
      </p>
    </div>
  );
}

function Step({ title, children }: { title: string; children: ComponentChildren }) {
  useLayoutEffect(() => {
    document.title = title;
    arrive();
    document.getElementById("title")?.focus({ preventScroll: true });
  }, [title]);
  return <>{children}</>;
}

export function Screen() {
  const t = transfer.value;
  const form = useRef<HTMLFormElement>(null);
  const [state, setState] = useState<SetupState>();
  const [step, setStep] = useState(1);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [isOver, setOver] = useState(false);
  const language = locale.value;
  const [given, setGiven] = useState<Given>({
    site_name: "Notes",
    name: "",
    email: "",
    password: "",
    demo: "yes",
  });
  const set = (change: Partial<Given>): void => setGiven((now) => ({ ...now, ...change }));
  useEffect(() => {
    get<SetupState>("/api/v1/setup").then(
      (found) => {
        setState(found);
        setOver(found.done);
      },
      () => undefined,
    );
  }, []);
  const send = async (): Promise<void> => {
    setBusy(true);
    setProblem("");
    try {
      const body = { ...given, demo: given.demo ? language : null };
      await request("POST", "/api/v1/setup", { body, isProbe: true });
      location.replace(given.demo ? await tour().catch(() => "/w") : "/w");
      return;
    } catch (error) {
      setBusy(false);
      if (error instanceof ApiError && error.status === 409) setOver(true);
      else if (error instanceof ApiError) setProblem(error.message);
      else setProblem(words.value.notReached);
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isBusy || !form.current?.reportValidity()) return;
    setProblem("");
    if (step < STEPS) setStep(step + 1);
    else void send();
  };
  if (isOver)
    return (
      <Step title={t.setupDone}>
        <div class="message">
          <h1 id="title" tabIndex={-1}>
            {t.setupDone}
          </h1>
          <p>{t.setupDoneText}</p>
          <a class="button primary" href="/login?return_to=/w" target="_self">
            {words.value.signIn}
          </a>
        </div>
      </Step>
    );
  const title = [t.setupSite, t.setupYou, t.setupTour][step - 1] ?? "";
  const shared = { given, set };
  return (
    <Step title={title}>
      <form ref={form} class="setup" onSubmit={submit} noValidate={false}>
        <p class="faint">{t.step(step, STEPS)}</p>
        <h1 id="title" tabIndex={-1}>
          {title}
        </h1>
        {step === 1 && (
          <>
            <p class="lead">{t.setupText}</p>
            <Seen state={state} />
            <label class="field">
              {words.value.language}
              <select
                value={language}
                onChange={(event) => prefer({ language: event.currentTarget.value })}
              >
                {languages.map((tag) => (
                  <option key={tag} value={tag} lang={tag}>
                    {nameOf(tag)}
                  </option>
                ))}
              </select>
            </label>
            <Field
              name="site_name"
              label={t.siteName}
              type="text"
              complete="organization"
              hint={t.siteNameHint}
              {...shared}
            />
          </>
        )}
        {step === 2 && (
          <>
            <p class="lead">{t.setupYouText}</p>
            <Field name="name" label={t.yourName} type="text" complete="name" {...shared} />
            <Field name="email" label={t.yourEmail} type="email" complete="email" {...shared} />
            <Field
              name="password"
              label={t.yourPassword}
              type="password"
              complete="new-password"
              hint={t.passwordHint(LEAST_PASSWORD)}
              {...shared}
            />
          </>
        )}
        {step === 3 && (
          <fieldset class="modes">
            <legend>{t.setupTourText}</legend>
            {(["yes", ""] as const).map((one) => (
              <label class="check" key={one}>
                <input
                  type="radio"
                  name="demo"
                  value={one}
                  checked={given.demo === one}
                  onChange={() => set({ demo: one })}
                />
                <span>
                  {one ? t.withTour : t.withoutTour}
                  <small>{one ? t.withTourText : t.withoutTourText}</small>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        {problem && (
          <p class="refused" role="alert" dir="auto">
            {problem}
          </p>
        )}
        <div class="buttons">
          {step > 1 && (
            <button type="button" onClick={() => setStep(step - 1)} disabled={isBusy}>
              {t.back}
            </button>
          )}
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {step < STEPS ? t.next : t.setUp}
          </button>
        </div>
        {isBusy && <p role="status">{given.demo ? t.makingTour : words.value.loading}</p>}
      </form>
    </Step>
  );
}
