/** One's jobs, or for administrators those of everybody: how far they are, what became of them. */
import { useEffect, useState } from "preact/hooks";
import { request } from "../../api/client";
import { load } from "../../api/signed_in";
import { importPath } from "../../app/routes";
import { mayAdminister, spaces, userId } from "../../app/store";
import { when, words } from "../../app/words";
import { Ask, done } from "../around/parts";
import { Message } from "../message";
import { Skeleton } from "../page";
import { isUnfinished, isWorking, type Job, PREVIEW, useFollowed } from "./job";
import { Numbers, Progress, Screened } from "./parts";
import { ready, transfer } from "./words";

export { ready };

export function Screen() {
  const t = transfer.value;
  // One's own, those of everybody, or of the person with this id.
  const [whose, setWhose] = useState("own");
  const [state, setState] = useState("");
  const wide = whose !== "own" && mayAdminister.value;
  const person = wide && whose !== "all" ? `&user_id=${whose}` : "";
  const path = `/api/v1/jobs${wide ? `?all=true${person}${state && `&state=${state}`}` : ""}`;
  const jobs = useFollowed<Job[]>(path, (found) => found.some(isWorking));
  const [asked, setAsked] = useState<Job>();
  if (jobs.problem)
    return <Message title={words.value.failed} text={jobs.problem} retry={jobs.again} />;
  if (!jobs.found) return <Skeleton />;
  const cancel = async (job: Job): Promise<void> => {
    const text = job.state === "done" ? t.discarded : t.cancelled;
    await done(() => request("DELETE", `/api/v1/jobs/${job.id}`), text);
    jobs.again();
  };
  return (
    <Screened title={wide ? t.jobsOfAll : t.jobs}>
      <p class="lead">{t.jobsText}</p>
      {mayAdminister.value && (
        <div class="filters">
          <label class="field">
            {t.whose}
            <select
              value={wide ? whose : "own"}
              onChange={(event) => setWhose(event.currentTarget.value)}
            >
              <option value="own">{t.ofYou}</option>
              <option value="all">{t.ofEverybody}</option>
              <People />
            </select>
          </label>
          {wide && (
            <label class="field">
              {t.inState}
              <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
                <option value="">{t.anyState}</option>
                {Object.entries(t.states).map(([name, text]) => (
                  <option key={name} value={name}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
      )}
      {!jobs.found.length && <p class="faint">{wide ? t.nobodysJobs : t.noJobs}</p>}
      <ul class="card-list">
        {jobs.found.map((job) => (
          <Row key={job.id} job={job} isAll={wide} cancel={() => setAsked(job)} />
        ))}
      </ul>
      {asked && (
        <Ask
          question={
            asked.user_id !== userId()
              ? t.cancelOfAsk(asked.user_name ?? "")
              : asked.state === "done"
                ? t.discardAsk
                : t.cancelAsk
          }
          yes={asked.state === "done" ? t.discard : t.cancel}
          act={() => void cancel(asked)}
          close={() => setAsked(undefined)}
        />
      )}
    </Screened>
  );
}

/** The people, each a choice of whose jobs are listed. */
function People() {
  const [people, setPeople] = useState<{ id: string; name: string; email: string }[]>([]);
  useEffect(() => {
    const stopping = new AbortController();
    load<typeof people>("/api/v1/users", setPeople, { signal: stopping.signal }).catch(
      () => undefined,
    );
    return () => stopping.abort();
  }, []);
  return (
    <optgroup label={words.value.persons}>
      {people.map((one) => (
        <option key={one.id} value={one.id}>
          {`${one.name} (${one.email})`}
        </option>
      ))}
    </optgroup>
  );
}

interface RowProps {
  job: Job;
  /** True in the list of everybody's jobs, which names their people. */
  isAll: boolean;
  cancel: () => void;
}

function Row({ job, isAll, cancel }: RowProps) {
  const t = transfer.value;
  const isOwn = job.user_id === userId();
  const isWaiting = job.kind === PREVIEW && job.state === "done";
  const state = isWaiting && isOwn ? t.waitsForYou : (t.states[job.state] ?? job.state);
  const name = job.name ?? t.kinds[job.kind] ?? job.kind;
  const space = spaces.value.find((one) => one.id === job.space_id);
  return (
    <li class="card line" data-job={job.id} data-state={job.state}>
      <div>
        <strong>
          <span dir="auto">{name}</span>
          <span class={`chip${job.state === "failed" ? " warn" : ""}`}>{state}</span>
        </strong>
        <small class="faint">
          {[
            isAll && (job.user_name ?? t.application),
            t.kinds[job.kind] ?? job.kind,
            space?.name,
            when(job.created_at),
          ]
            .filter(Boolean)
            .join(" · ")}
        </small>
        {isWorking(job) && <Progress job={job} />}
        {job.error && <p dir="auto">{job.error}</p>}
        {job.result && job.result.pages !== undefined && <Numbers result={job.result} />}
      </div>
      <div class="acts">
        {isUnfinished(job) && (
          <button type="button" aria-label={t.cancelOf(name)} onClick={cancel}>
            {isWaiting ? t.discard : words.value.cancel}
          </button>
        )}
        {isOwn && job.space_id && (
          <a class="button" href={importPath(job.space_id, job.id)}>
            {t.open}
            <span class="unseen"> {name}</span>
          </a>
        )}
      </div>
    </li>
  );
}
