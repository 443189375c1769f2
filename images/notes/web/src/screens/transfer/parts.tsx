/** What the screens of import, export and jobs share: bars of progress, numbers, lists in parts. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { arrive } from "../../app/router";
import type { Job, Result } from "./job";
import { transfer } from "./words";

/** A screen with its heading, which gets the focus when the heading changes. */
export function Screened({ title, children }: { title: string; children: ComponentChildren }) {
  useLayoutEffect(() => {
    document.title = title;
    arrive();
  }, [title]);
  return (
    <div class="around transfer">
      <h1 id="title" tabIndex={-1} dir="auto">
        {title}
      </h1>
      {children}
    </div>
  );
}

interface BarProps {
  label: string;
  value: number | undefined;
  most: number;
  text: string;
}

/** A bar of progress with its numbers as text; without a value it only tells that something goes on. */
export function Bar({ label, value, most, text }: BarProps) {
  const given = value === undefined ? {} : { value: Math.min(value, most) };
  return (
    <div class="progress">
      <progress aria-label={label} max={Math.max(most, 1)} {...given} />
      <small>{text}</small>
    </div>
  );
}

/** How far a job is: its pages, then its files. */
export function Progress({ job }: { job: Job }) {
  const t = transfer.value;
  const { pages = 0, pages_total = 0, files = 0, files_total = 0 } = job.progress;
  if (job.state === "queued" || !(pages_total + files_total))
    return <Bar label={t.waiting} value={undefined} most={1} text={t.waiting} />;
  return (
    <>
      <Bar
        label={t.pagesOf(pages, pages_total)}
        value={pages}
        most={pages_total}
        text={t.pagesOf(pages, pages_total)}
      />
      {files_total > 0 && (
        <Bar
          label={t.filesOf(files, files_total)}
          value={files}
          most={files_total}
          text={t.filesOf(files, files_total)}
        />
      )}
    </>
  );
}

/** The numbers of a result, as chips. */
export function Numbers({ result }: { result: Result }) {
  const t = transfer.value;
  return (
    <ul class="chips">
      <li class="chip">{t.pages(result.pages)}</li>
      <li class="chip">{t.files(result.files)}</li>
      {(result.changed ?? 0) > 0 && <li class="chip">{t.changed(result.changed ?? 0)}</li>}
      {(result.left_out ?? 0) > 0 && <li class="chip warn">{t.leftOut(result.left_out ?? 0)}</li>}
    </ul>
  );
}
