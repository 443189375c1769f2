/** The pages that an import will create, in their places. */
import { useEffect, useState } from "preact/hooks";
import { EndedError, load } from "../../api/signed_in";
import { Icon } from "../../app/icons";
import { words } from "../../app/words";
import { transfer } from "./words";

export interface PreviewPage {
  number: number;
  id: string;
  parent_id: string | null;
  title: string;
  is_template: boolean;
  path: string | null;
  notes: string[];
  files: number;
  versions: number;
  comments: number;
  exists: boolean;
}

interface Row {
  page: PreviewPage;
  level: number;
  above: string;
}

const PART = 1000;
const MOST_READ = 10_000;
const MOST_SHOWN = 200;
/** Deeper pages are shown at this level: a phone has no more room. */
const DEEPEST = 8;

/** The pages in reading order; without recursion, since a zip may be deep. */
export function rowsOf(pages: readonly PreviewPage[]): Row[] {
  const below = new Map<string | null, PreviewPage[]>();
  for (const page of pages) {
    const siblings = below.get(page.parent_id);
    if (siblings) siblings.push(page);
    else below.set(page.parent_id, [page]);
  }
  const rows: Row[] = [];
  const waiting: Row[] = [...(below.get(null) ?? [])]
    .reverse()
    .map((page) => ({ page, level: 0, above: "" }));
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    const { page, level } = row;
    for (const child of [...(below.get(page.id) ?? [])].reverse())
      waiting.push({ page: child, level: level + 1, above: page.title });
  }
  return rows;
}

/** Reads the pages of a preview in parts. */
function usePages(job: string) {
  const [pages, setPages] = useState<PreviewPage[]>();
  const [problem, setProblem] = useState("");
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      const all: PreviewPage[] = [];
      let isWhole = false;
      while (!isWhole && all.length < MOST_READ) {
        const after = all.at(-1)?.number ?? -1;
        await load<PreviewPage[]>(
          `/api/v1/jobs/${job}/preview?limit=${PART}&after=${after}`,
          (found) => {
            all.push(...found);
            isWhole = found.length < PART;
          },
          { signal: stop.signal },
        );
      }
      setPages(all);
    };
    setProblem("");
    read().catch((error) => {
      if (!(error instanceof EndedError) && !stop.signal.aborted)
        setProblem(words.value.notReached);
    });
    return () => stop.abort();
  }, [job, turn]);
  return { pages, problem, again: () => setTurn(turn + 1) };
}

function Facts({ page }: { page: PreviewPage }) {
  const t = transfer.value;
  const facts = [
    page.is_template ? t.template : "",
    page.path === null && !page.files ? t.folder : "",
    page.files ? t.files(page.files) : "",
    page.versions > 1 ? t.versions(page.versions) : "",
    page.comments ? t.comments(page.comments) : "",
  ].filter(Boolean);
  return (
    <small class="faint">
      {facts.join(" · ")}
      {page.exists && <span class="chip warn">{t.exists}</span>}
    </small>
  );
}

export function PreviewTree({ job }: { job: string }) {
  const t = transfer.value;
  const { pages, problem, again } = usePages(job);
  const [shown, setShown] = useState(MOST_SHOWN);
  if (problem)
    return (
      <p class="refused" role="alert">
        {problem}{" "}
        <button type="button" onClick={again}>
          {words.value.retry}
        </button>
      </p>
    );
  if (!pages) return <p class="faint">{words.value.loading}</p>;
  const rows = rowsOf(pages);
  const left = rows.length - shown;
  return (
    <>
      <ul class="preview-tree">
        {rows.slice(0, shown).map(({ page, level, above }) => (
          <li
            key={page.id}
            data-page={page.title}
            style={{ "--level": String(Math.min(level, DEEPEST)) }}
          >
            <Icon name="page" />
            <div>
              <span dir="auto">{page.title}</span>
              {above && <span class="unseen"> {t.below(above)}</span>}
              <Facts page={page} />
            </div>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <button type="button" onClick={() => setShown(shown + MOST_SHOWN)}>
          {t.more(Math.min(left, MOST_SHOWN))}
        </button>
      )}
      {left <= 0 && pages.length >= MOST_READ && <p class="faint">{t.firstOnly(pages.length)}</p>}
    </>
  );
}
