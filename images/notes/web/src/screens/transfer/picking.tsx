/** The first step of an import: which zip, and its upload. */
import { useEffect, useRef, useState } from "preact/hooks";
import { EndedError } from "../../api/signed_in";
import { Icon } from "../../app/icons";
import { go } from "../../app/router";
import { importPath } from "../../app/routes";
import { size, words } from "../../app/words";
import { type Followed, isUnfinished, type Job, useFollowed } from "./job";
import { Bar } from "./parts";
import { forget, interrupted, sendZip } from "./sending";
import { transfer } from "./words";

interface PickingProps {
  space: string;
  parent: string;
}

/** Imports of this space that a reload, or another tab, has left. */
function Unfinished({ space }: { space: string }) {
  const t = transfer.value;
  const jobs: Followed<Job[]> = useFollowed("/api/v1/jobs", () => false);
  const found = (jobs.found ?? []).filter((job) => job.space_id === space && isUnfinished(job));
  if (!found.length) return null;
  return (
    <section aria-labelledby="import-unfinished">
      <h2 id="import-unfinished">{t.unfinished}</h2>
      <ul class="card-list">
        {found.map((job) => (
          <li key={job.id} class="card line">
            <div dir="auto">{job.name}</div>
            <a class="button" href={importPath(space, job.id)}>
              {t.open}
              <span class="unseen"> {job.name}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Sent {
  bytes: number;
  of: number;
}

export function Picking({ space, parent }: PickingProps) {
  const t = transfer.value;
  const input = useRef<HTMLInputElement>(null);
  const [known, setKnown] = useState(() => interrupted(space));
  const [sent, setSent] = useState<Sent>();
  const [problem, setProblem] = useState("");
  const [isOver, setOver] = useState(false);
  const stopping = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const file = input.current?.files?.[0];
    if (sent) return;
    if (!file) {
      setProblem(t.noFile);
      input.current?.focus();
      return;
    }
    const stop = new AbortController();
    stopping.current = stop;
    setProblem("");
    setSent({ bytes: 0, of: file.size });
    try {
      const job = await sendZip(space, parent, file, stop.signal, (bytes) =>
        setSent({ bytes, of: file.size }),
      );
      go(importPath(space, job), true);
    } catch (error) {
      if (error instanceof EndedError) return;
      const text = error instanceof Error && error.message.includes(" ") ? error.message : "";
      setProblem(stop.signal.aborted ? t.stopped : text || words.value.notReached);
    }
    setSent(undefined);
    setKnown(interrupted(space));
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    if (input.current && event.dataTransfer?.files.length)
      input.current.files = event.dataTransfer.files;
  };
  const percent = sent ? t.sending(size(sent.bytes), size(sent.of)) : "";
  return (
    <>
      <form class="picking" onSubmit={(event) => void submit(event)}>
        {known && !sent && (
          <div class="card">
            <p dir="auto">{t.resumable(known.name)}</p>
            <button
              type="button"
              onClick={() => {
                forget(space);
                setKnown(undefined);
              }}
            >
              {t.forget}
            </button>
          </div>
        )}
        <label
          class={`drop${isOver ? " is-over" : ""}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Icon name="page" />
          <strong>{t.file}</strong>
          <small>{t.dropHint}</small>
          <input
            ref={input}
            type="file"
            name="file"
            accept=".zip,application/zip"
            disabled={sent !== undefined}
            onChange={() => setProblem("")}
          />
        </label>
        {sent && <Bar label={percent} value={sent.bytes} most={sent.of} text={percent} />}
        {problem && (
          <p class="refused" role="alert">
            {problem}
          </p>
        )}
        <div class="buttons">
          {sent ? (
            <button type="button" onClick={() => stopping.current?.abort()}>
              {t.stop}
            </button>
          ) : (
            <button type="submit" class="primary">
              {t.showPreview}
            </button>
          )}
        </div>
      </form>
      <Unfinished space={space} />
    </>
  );
}
