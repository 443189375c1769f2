/** The lines of an import's report: what each file of the zip becomes, read in parts. */
import { useEffect, useState } from "preact/hooks";
import { EndedError, load } from "../../api/signed_in";
import { pagePath } from "../../app/routes";
import { words } from "../../app/words";
import type { ReportLine } from "./job";
import { transfer } from "./words";

const AT_ONCE = 200;

interface Lines {
  lines: ReportLine[];
  isWhole: boolean;
  problem: string;
  more: () => void;
}

/** Reads the lines of a report; only changes and omissions unless `all`. */
function useLines(job: string, all: boolean): Lines {
  const [lines, setLines] = useState<ReportLine[]>([]);
  const [isWhole, setWhole] = useState(false);
  const [problem, setProblem] = useState("");
  const read = async (after: number, before: ReportLine[], signal?: AbortSignal): Promise<void> => {
    try {
      await load<ReportLine[]>(
        `/api/v1/jobs/${job}/report?all=${all}&limit=${AT_ONCE}&after=${after}`,
        (found) => {
          setLines([...before, ...found]);
          setWhole(found.length < AT_ONCE);
          setProblem("");
        },
        signal ? { signal } : {},
      );
    } catch (error) {
      if (!(error instanceof EndedError) && !signal?.aborted) setProblem(words.value.failed);
    }
  };
  useEffect(() => {
    const stop = new AbortController();
    void read(-1, [], stop.signal);
    return () => stop.abort();
  }, [job, all]);
  return { lines, isWhole, problem, more: () => void read(lines.at(-1)?.number ?? -1, lines) };
}

interface LinesProps {
  job: string;
  all: boolean;
  /** True if the pages exist: they are links then. */
  isThere: boolean;
}

/** The lines as a table; a sentence if there are none. */
export function LineTable({ job, all, isThere }: LinesProps) {
  const t = transfer.value;
  const { lines, isWhole, problem, more } = useLines(job, all);
  if (problem) return <p class="refused">{problem}</p>;
  if (isWhole && !lines.length) return <p class="faint">{t.noChanges}</p>;
  return (
    <>
      <div class="wide-table" tabIndex={0} role="group" aria-label={all ? t.everything : t.changes}>
        <table class="grid lines">
          <thead>
            <tr>
              <th scope="col">{t.column.path}</th>
              <th scope="col">{t.column.outcome}</th>
              <th scope="col">{t.column.notes}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.number} data-outcome={line.outcome}>
                <td dir="auto">
                  {isThere && line.node_id && line.outcome === "page" ? (
                    <a href={pagePath(line.node_id)}>{line.path}</a>
                  ) : (
                    line.path
                  )}
                </td>
                <td>{t.outcomes[line.outcome] ?? line.outcome}</td>
                <td dir="auto">{line.notes.join("; ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!isWhole && lines.length > 0 && (
        <button type="button" onClick={more}>
          {t.more(AT_ONCE)}
        </button>
      )}
    </>
  );
}

/** The whole report, read when it is opened. */
export function Everything({ job, isThere }: { job: string; isThere: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{transfer.value.everything}</summary>
      {isOpen && <LineTable job={job} all isThere={isThere} />}
    </details>
  );
}
