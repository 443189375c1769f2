/** The screen of one's own account: name, password, use, API tokens, imports. */
import { useLayoutEffect } from "preact/hooks";
import type { Me } from "../../api/types";
import { arrive } from "../../app/router";
import { importPath } from "../../app/routes";
import { me, notice } from "../../app/store";
import { size, when, words } from "../../app/words";
import { ready as spaceReady } from "../space/words";
import { Sessions } from "./sessions";
import { Tokens } from "./tokens";
import { adminReady, adminWords, Field, Form, send, State, textOf, useLoaded } from "./tools";
import { type Share, Used } from "./used";

export const ready = async (): Promise<void> => {
  await Promise.all([spaceReady(), adminReady()]);
};

interface Usage {
  bytes: Share;
  pages: Share;
  spaces: Share;
}

interface Job {
  id: string;
  kind: string;
  space_id: string | null;
  state: string;
  error: string | null;
  created_at: string;
}

const LEAST_PASSWORD = 10;
const MOST_PASSWORD = 1024;

function You() {
  const w = adminWords();
  const rename = async (fields: FormData): Promise<void> => {
    const changed = await send<Me>("PATCH", "/api/v1/me", { name: textOf(fields, "name") });
    me.value = changed;
    notice.value = w.saved;
  };
  return (
    <section aria-labelledby="account-you">
      <h2 id="account-you">{w.you}</h2>
      <p class="faint">{w.signedInAs(me.value?.email ?? "")}</p>
      <Form title={w.save} act={rename} isKept>
        <Field name="name" label={w.name} value={me.value?.name ?? ""} complete="name" />
      </Form>
    </section>
  );
}

function Password() {
  const w = adminWords();
  const change = async (fields: FormData): Promise<void> => {
    const password = textOf(fields, "password");
    const current_password = textOf(fields, "current_password");
    await send("PATCH", "/api/v1/me", { password, current_password });
    notice.value = w.passwordChanged;
  };
  return (
    <section aria-labelledby="account-password">
      <h2 id="account-password">{w.password}</h2>
      <p class="faint">{w.passwordText}</p>
      <Form title={w.changePassword} act={change}>
        <input type="hidden" autocomplete="username" value={me.value?.email ?? ""} />
        <Field
          name="current_password"
          label={w.currentPassword}
          type="password"
          complete="current-password"
          most={MOST_PASSWORD}
        />
        <Field
          name="password"
          label={w.newPassword}
          type="password"
          complete="new-password"
          least={LEAST_PASSWORD}
          most={MOST_PASSWORD}
          hint={w.passwordHint(LEAST_PASSWORD)}
        />
      </Form>
    </section>
  );
}

const KINDS = ["mention", "reply", "comment", "edit", "access"] as const;
type Wanted = Record<(typeof KINDS)[number], boolean>;

/** The kinds of notifications that one wants. */
function ToldOf() {
  const w = adminWords();
  const path = "/api/v1/notification-settings";
  const wanted = useLoaded<Wanted>(path);
  const found = wanted.data;
  const change = async (fields: FormData): Promise<void> => {
    const chosen = Object.fromEntries(KINDS.map((kind) => [kind, fields.has(kind)]));
    await send("PUT", path, chosen);
    notice.value = w.saved;
  };
  return (
    <section aria-labelledby="account-told">
      <h2 id="account-told">{words.value.notifications}</h2>
      <p class="faint">{w.toldText}</p>
      <State of={wanted} />
      {found && (
        <Form title={w.save} act={change} isKept>
          {KINDS.map((kind) => (
            <label class="check" key={kind}>
              <input type="checkbox" name={kind} defaultChecked={found[kind]} />
              <span>{w.toldOf[kind]}</span>
            </label>
          ))}
        </Form>
      )}
    </section>
  );
}

function Use() {
  const w = adminWords();
  const usage = useLoaded<Usage>("/api/v1/me/usage");
  const found = usage.data;
  return (
    <section aria-labelledby="account-use">
      <h2 id="account-use">{w.use}</h2>
      <State of={usage} />
      {found && (
        <ul class="uses">
          <Used
            title={w.bytes}
            share={found.bytes}
            text={w.of(size(found.bytes.used), size(found.bytes.limit))}
          />
          <Used
            title={words.value.pages}
            share={found.pages}
            text={w.of(w.number(found.pages.used), w.number(found.pages.limit))}
          />
          <Used
            title={words.value.spaces}
            share={found.spaces}
            text={w.of(w.number(found.spaces.used), w.number(found.spaces.limit))}
          />
        </ul>
      )}
    </section>
  );
}

function Jobs() {
  const w = adminWords();
  const jobs = useLoaded<Job[]>("/api/v1/jobs");
  if (!jobs.data?.length) return null;
  return (
    <section aria-labelledby="account-jobs">
      <h2 id="account-jobs">{w.jobs}</h2>
      <ul class="rows">
        {jobs.data.map((job) => (
          <li key={job.id}>
            <div class="line-item">
              <div class="grow">
                {job.space_id && job.kind.startsWith("import") ? (
                  <a href={importPath(job.space_id, job.id)}>{w.importJob}</a>
                ) : (
                  <span>{job.kind}</span>
                )}
                <small>{when(job.created_at)}</small>
                {job.error && <small dir="auto">{job.error}</small>}
              </div>
              <span class="chip">{w.jobStates[job.state] ?? job.state}</span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Account() {
  const title = words.value.yourAccount;
  useLayoutEffect(() => {
    document.title = title;
    arrive();
  }, [title]);
  return (
    <div class="settings managed">
      <h1 id="title" tabIndex={-1}>
        {title}
      </h1>
      <You />
      <Password />
      <ToldOf />
      <Sessions />
      <Tokens />
      <Use />
      <Jobs />
    </div>
  );
}
