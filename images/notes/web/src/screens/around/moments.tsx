/** The moments of a page: when it was edited and by whom, the page after any edit, and its restore. */
import { useEffect, useState } from "preact/hooks";
import { load } from "../../api/signed_in";
import { mayWrite } from "../../api/types";
import { go } from "../../app/router";
import { historyPath, pagePath } from "../../app/routes";
import { locale } from "../../app/words";
import { Difference } from "./difference";
import { beforeOf, type Burst, type Bursts, momentsPath, type Other } from "./moment_asked";
import { format, Slider } from "./moment_slider";
import { Old, type OldPage } from "./old";
import { Ask, backTo, done, Frame, useAnswer, usePage } from "./parts";
import { restore } from "./restore";
import { around } from "./words";

/** The names of those who wrote, as a list in the language. */
function by(names: string[]): string {
  const a = around.value;
  if (!names.length) return a.somebody;
  return a.by(new Intl.ListFormat(locale.value, { type: "conjunction" }).format(names));
}

/** The two ways through the past of a page. */
export function Ways({ id, isMoments }: { id: string; isMoments: boolean }) {
  const a = around.value;
  return (
    <nav class="acts bar ways" aria-label={a.ways}>
      <a class="button" href={historyPath(id)} aria-current={isMoments ? undefined : "page"}>
        {a.versions}
      </a>
      <a class="button" href={momentsPath(id)} aria-current={isMoments ? "page" : undefined}>
        {a.moments}
      </a>
    </nav>
  );
}

function Times({ one }: { one: Burst }) {
  const text = format({}).formatRange(new Date(one.begun_at), new Date(one.at));
  return <time dateTime={one.at}>{text}</time>;
}

interface ListProps {
  id: string;
  kept: Bursts;
  path: string;
  again: () => void;
}

function List({ id, kept, path, again }: ListProps) {
  const a = around.value;
  const [older, setOlder] = useState<Burst[]>([]);
  useEffect(() => setOlder([]), [kept]);
  const found = [...kept.bursts, ...older];
  const last = found.at(-1);
  const isAll = !last || last.first <= kept.first + 1;
  const more = async (): Promise<void> => {
    const next = `${path}?before=${last?.first ?? 0}`;
    await load<Bursts>(next, (answer) => setOlder([...older, ...answer.bursts])).catch(again);
  };
  return (
    <>
      {found.length > 0 && (
        <ol class="card-list moments">
          {found.map((one) => (
            <li key={one.seq} class="card line" data-moment={one.seq}>
              <div>
                <strong id={`moment-${one.seq}`}>
                  <Times one={one} />
                  {one.seq === kept.last && <span class="chip">{a.asItIs}</span>}
                </strong>
                <small class="faint">
                  {by(one.authors)} · {a.edits(one.seq - one.first + 1)}
                </small>
              </div>
              <div class="acts">
                <a
                  class="button"
                  href={momentsPath(id, one.seq, one.first - 1)}
                  aria-describedby={`moment-${one.seq}`}
                >
                  {a.changes}
                </a>
                <a
                  class="button"
                  href={momentsPath(id, one.seq)}
                  aria-describedby={`moment-${one.seq}`}
                >
                  {a.show}
                </a>
              </div>
            </li>
          ))}
        </ol>
      )}
      {!isAll && (
        <p>
          <button type="button" onClick={() => void more()}>
            {a.olderMoments}
          </button>
        </p>
      )}
      {!found.length && <p>{kept.first > 0 ? a.noMomentsKept(kept.days) : a.noMoments}</p>}
      {found.length > 0 && isAll && (
        <p class="faint">{kept.first > 0 ? a.momentsEnd(kept.days) : a.momentsBegin}</p>
      )}
    </>
  );
}

interface OneProps {
  id: string;
  kept: Bursts;
  seq: number;
  since: Other;
  mayRestore: boolean;
}

/** The page after one edit, or what changed up to it, or since then. */
function One({ id, kept, seq, since, mayRestore }: OneProps) {
  const a = around.value;
  const [isAsking, setAsking] = useState(false);
  const isKept = seq >= kept.first;
  const found = useAnswer<OldPage>(`/api/v1/nodes/${id}/edits/${seq}`);
  const burst = kept.bursts.find((one) => one.first <= seq && seq <= one.seq);
  const [before, isLast] = [beforeOf(kept, seq), seq >= kept.last];
  const seen = since === undefined ? "page" : since === "now" ? "now" : "before";
  const others: Record<string, Other> = { before, now: "now" };
  const [old, now] = since === "now" ? [seq, kept.last] : [since ?? seq, seq];
  const act = async (): Promise<void> => {
    const isDone = await done(() => restore(id, `edits/${seq}`), a.momentRestored);
    if (isDone) go(pagePath(id));
  };
  return (
    <>
      {isKept && kept.last > kept.first && (
        <Slider {...{ id, kept, seq, since }} at={found.answer?.at} />
      )}
      {burst && <p class="faint">{by(burst.authors)}</p>}
      {isKept && (
        <div class="acts bar">
          <label class="compare">
            {a.seen}
            <select
              value={seen}
              onChange={(event) =>
                go(momentsPath(id, seq, others[event.currentTarget.value]), true)
              }
            >
              <option value="page">{a.asItWas}</option>
              {(before !== undefined || seen === "before") && (
                <option value="before">{a.sinceBefore}</option>
              )}
              {(!isLast || seen === "now") && <option value="now">{a.sinceThen}</option>}
            </select>
          </label>
          {mayRestore && !isLast && (
            <button type="button" class="primary" onClick={() => setAsking(true)}>
              {a.restoreMoment}
            </button>
          )}
        </div>
      )}
      {old < kept.first || !isKept ? (
        <p role="status">{a.momentGone(kept.days)}</p>
      ) : since === undefined ? (
        <Old found={found} />
      ) : (
        <Difference path={`/api/v1/nodes/${id}/edits/${now}/diff?since=${old}`} />
      )}
      {isAsking && (
        <Ask
          question={a.restoreMomentAsk}
          yes={a.restoreMoment}
          act={() => void act()}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface Props {
  id: string;
  seq?: number;
  since?: Other;
}

export function Moments({ id, seq, since }: Props) {
  const a = around.value;
  const node = usePage(id);
  const path = `/api/v1/nodes/${id}/bursts`;
  const found = useAnswer<Bursts>(path, node?.version);
  const kept = found.answer;
  const title = node && (seq === undefined ? a.momentsOf(node.title) : a.momentTitle(node.title));
  const mayRestore = node !== undefined && mayWrite(node.role) && !node.trashed_at;
  return (
    <Frame title={title} answer={found} back={backTo(id)}>
      <Ways id={id} isMoments />
      {kept && seq === undefined && <List {...{ id, kept, path }} again={found.again} />}
      {kept && seq !== undefined && <One {...{ id, kept, seq, since, mayRestore }} />}
    </Frame>
  );
}
