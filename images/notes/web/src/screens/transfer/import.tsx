/** An import: the choice of a zip, its preview, its progress, its report. Each step has an address. */
import { useState } from "preact/hooks";
import { request } from "../../api/client";
import { mayWrite } from "../../api/types";
import { go } from "../../app/router";
import { importPath, pagePath, spacePath } from "../../app/routes";
import { currentTree, readTree, spaces } from "../../app/store";
import { words } from "../../app/words";
import { Ask, done } from "../around/parts";
import { Message } from "../message";
import { Skeleton } from "../page";
import { isWorking, type Job, PREVIEW, type ReportLine, useFollowed } from "./job";
import { Everything, LineTable } from "./lines";
import { Numbers, Progress, Screened } from "./parts";
import { Picking } from "./picking";
import { PreviewTree } from "./preview_tree";
import { ready, transfer } from "./words";

export { ready };

interface ScreenProps {
  id: string;
  parent: string;
  job: string;
}

export function Screen({ id, parent, job }: ScreenProps) {
  return job ? <Running id={job} space={id} /> : <Beginning id={id} parent={parent} />;
}

function Beginning({ id, parent }: { id: string; parent: string }) {
  const t = transfer.value;
  const space = spaces.value.find((one) => one.id === id);
  const above = parent ? currentTree.value?.byId.get(parent) : undefined;
  if (!space) return <Message title={words.value.notFound} text={words.value.notFoundText} />;
  if (!parent && !mayWrite(space.role)) return <Message title={t.mayNot} text={t.mayNotText} />;
  return (
    <Screened title={t.importInto(space.name)}>
      <p class="lead">{t.importText}</p>
      <p>
        {parent ? t.belowPage(above?.title ?? "…") : t.atTop}{" "}
        {parent && mayWrite(space.role) && <a href={importPath(id)}>{t.atTopInstead}</a>}
      </p>
      <Picking key={id + parent} space={id} parent={parent} />
    </Screened>
  );
}

function Running({ id, space }: { id: string; space: string }) {
  const t = transfer.value;
  const [turn, setTurn] = useState(0);
  const followed = useFollowed<Job>(`/api/v1/jobs/${id}?${turn}`, isWorking);
  const job = followed.found;
  const [isAsking, setAsking] = useState(false);
  if (followed.isMissing)
    return (
      <Message
        title={t.gone}
        text={t.goneText}
        action={{ title: t.toImports, path: importPath(space) }}
      />
    );
  if (followed.problem)
    return <Message title={words.value.failed} text={followed.problem} retry={followed.again} />;
  if (!job) return <Skeleton />;
  const isPreview = job.kind === PREVIEW;
  const cancel = async (): Promise<void> => {
    const gone = isPreview && job.state === "done" ? t.discarded : t.cancelled;
    if (await done(() => request("DELETE", `/api/v1/jobs/${id}`), gone))
      go(importPath(space), true);
    else followed.again();
  };
  const begin = async (mode: string): Promise<void> => {
    const path = `/api/v1/jobs/${id}/begin?mode=${mode}`;
    if (await done(() => request("POST", path), t.writing)) setTurn(turn + 1);
  };
  const ask = (): void => setAsking(true);
  return (
    <>
      {isWorking(job) && <Going job={job} cancel={ask} />}
      {job.state === "failed" && <Failed job={job} space={space} />}
      {job.state === "done" && isPreview && <Preview job={job} begin={begin} discard={ask} />}
      {job.state === "done" && !isPreview && <Report job={job} space={space} />}
      {isAsking && (
        <Ask
          question={job.state === "done" ? t.discardAsk : t.cancelAsk}
          yes={job.state === "done" ? t.discard : t.cancel}
          act={() => void cancel()}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}

const named = (job: Job): string => job.name ?? "zip";

function Going({ job, cancel }: { job: Job; cancel: () => void }) {
  const t = transfer.value;
  return (
    <Screened title={job.kind === PREVIEW ? t.previewOf(named(job)) : t.importing(named(job))}>
      <p role="status">{job.kind === PREVIEW ? t.reading : t.writing}</p>
      <Progress job={job} />
      <p class="faint">{t.mayLeave}</p>
      <button type="button" onClick={cancel}>
        {t.cancel}
      </button>
    </Screened>
  );
}

function Failed({ job, space }: { job: Job; space: string }) {
  const t = transfer.value;
  return (
    <Screened title={t.failed(named(job))}>
      <p class="refused" role="alert" dir="auto">
        {job.error ?? ""}
      </p>
      <p>{t.nothingWritten}</p>
      <a class="button primary" href={importPath(space)}>
        {t.another}
      </a>
    </Screened>
  );
}

interface PreviewProps {
  job: Job;
  begin: (mode: string) => Promise<void>;
  discard: () => void;
}

function Preview({ job, begin, discard }: PreviewProps) {
  const t = transfer.value;
  const [mode, setMode] = useState("copy");
  const [isBusy, setBusy] = useState(false);
  const result = job.result;
  if (!result) return <Skeleton />;
  const isKnown = result.already !== undefined;
  const start = async (): Promise<void> => {
    setBusy(true);
    await begin(isKnown ? mode : "once");
    setBusy(false);
  };
  return (
    <Screened title={t.previewOf(named(job))}>
      <p class="lead">{t.isA(result.source ?? "")}</p>
      <Numbers result={result} />
      {isKnown && (
        <fieldset class="card modes">
          <legend>{t.already}</legend>
          {(["copy", "replace"] as const).map((one) => (
            <label class="check" key={one}>
              <input
                type="radio"
                name="mode"
                value={one}
                checked={mode === one}
                onChange={() => setMode(one)}
              />
              <span>{t[one]}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div class="buttons bar">
        <button type="button" onClick={discard}>
          {t.discard}
        </button>
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy}
          onClick={() => {
            if (!isBusy) void start();
          }}
        >
          {t.begin(result.pages)}
        </button>
      </div>
      <section aria-labelledby="preview-tree">
        <h2 id="preview-tree">{t.tree}</h2>
        <PreviewTree job={job.id} />
      </section>
      <section aria-labelledby="preview-changes">
        <h2 id="preview-changes">{t.changes}</h2>
        <LineTable job={job.id} all={false} isThere={false} />
        <Everything job={job.id} isThere={false} />
      </section>
      <p class="faint">{t.keptADay}</p>
    </Screened>
  );
}

function Report({ job, space }: { job: Job; space: string }) {
  const t = transfer.value;
  const result = job.result;
  const again = (
    <div class="buttons bar">
      <a class="button" href={importPath(space)}>
        {t.another}
      </a>
      <a class="button primary" href={spacePath(space)} onClick={() => void readTree(space)}>
        {t.toSpace}
      </a>
    </div>
  );
  if (!result || result.already !== undefined)
    return (
      <Screened title={t.importedNothing}>
        {result?.already && <Everything job={result.already} isThere />}
        {again}
      </Screened>
    );
  return (
    <Screened title={t.imported(named(job))}>
      <Numbers result={result} />
      {again}
      <NewPages job={job.id} />
      <section aria-labelledby="report-changes">
        <h2 id="report-changes">{t.changes}</h2>
        <LineTable job={job.id} all={false} isThere />
        <Everything job={job.id} isThere />
      </section>
    </Screened>
  );
}

const FIRST = 20;

/** Links to the first of the new pages; all are in the report. */
function NewPages({ job }: { job: string }) {
  const t = transfer.value;
  const lines = useFollowed<ReportLine[]>(`/api/v1/jobs/${job}/report?limit=1000`, () => false);
  const pages = (lines.found ?? []).filter((line) => line.outcome === "page" && line.node_id);
  if (!pages.length) return null;
  return (
    <section aria-labelledby="report-pages">
      <h2 id="report-pages">{t.newPages}</h2>
      <ul class="new-pages">
        {pages.slice(0, FIRST).map((line) => (
          <li key={line.number}>
            <a href={pagePath(line.node_id ?? "")} dir="auto">
              {currentTree.value?.byId.get(line.node_id ?? "")?.title ?? line.path}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
