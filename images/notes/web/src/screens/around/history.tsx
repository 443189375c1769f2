/** The history of a page: its versions, one of them, what changed between two, and a restore. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, get, request } from "../../api/client";
import { load } from "../../api/signed_in";
import { mayWrite, type PageNode } from "../../api/types";
import { go } from "../../app/router";
import { historyPath, pagePath } from "../../app/routes";
import { when, words } from "../../app/words";
import { render } from "../../doc/render";
import type { Doc } from "../../doc/types";
import { Difference } from "./difference";
import { Ask, backTo, done, Frame, useAnswer, usePage } from "./parts";
import { around, ready } from "./words";

export { ready };

interface Revision {
  version: number;
  title: string;
  author_name: string | null;
  created_at: string;
  restored_from: number | null;
}

const AT_ONCE = 100;
/** Somebody may save while one restores: the restore is sent again for the version that is there then. */
const TRIES = 4;

async function restore(id: string, version: number): Promise<void> {
  for (let left = TRIES; ; left -= 1) {
    const { version: base } = await get<PageNode>(`/api/v1/nodes/${id}`);
    const path = `/api/v1/nodes/${id}/revisions/${version}/restore`;
    try {
      await request("POST", path, { body: { base_version: base } });
      return;
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409) || left <= 1) throw error;
    }
  }
}

function Byline({ one }: { one: Revision }) {
  const a = around.value;
  return (
    <small class="faint">
      <time dateTime={one.created_at} title={new Date(one.created_at).toLocaleString()}>
        {when(one.created_at)}
      </time>{" "}
      {one.author_name ? a.by(one.author_name) : a.somebody}
      {one.restored_from !== null && ` · ${a.restoredFrom(one.restored_from)}`}
    </small>
  );
}

interface ListProps {
  id: string;
  found: Revision[];
  present: number;
}

function Versions({ id, found, present }: ListProps) {
  const a = around.value;
  return (
    <ol class="card-list versions">
      {found.map((one, at) => {
        const before = found[at + 1];
        return (
          <li key={one.version} class="card line" data-version={one.version}>
            <div>
              <strong>
                {a.versionNo(one.version)}
                {one.version === present && <span class="chip">{a.current}</span>}
              </strong>
              <Byline one={one} />
            </div>
            <div class="acts">
              {before && (
                <a
                  class="button"
                  href={historyPath(id, one.version, before.version)}
                  aria-label={a.changesOf(one.version)}
                >
                  {a.changes}
                </a>
              )}
              <a
                class="button"
                href={historyPath(id, one.version)}
                aria-label={a.showVersion(one.version)}
              >
                {a.show}
              </a>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Text({ id, version }: { id: string; version: number }) {
  const path = `/api/v1/nodes/${id}/revisions/${version}`;
  const { answer, detail } = useAnswer<{ title: string; doc: Doc }>(path);
  const body = useMemo(() => answer && render(answer.doc, "/w/p/", words.value), [answer]);
  if (!answer) return <p class="faint">{detail}</p>;
  return (
    <article class="old-text" aria-labelledby="old-title">
      <h2 id="old-title" dir="auto">
        {answer.title}
      </h2>
      <div class="prose">{body}</div>
    </article>
  );
}

interface OneProps extends ListProps {
  version: number;
  old: number;
  mayRestore: boolean;
}

/** One version, or what changed in it since an older one. */
function One({ id, found, present, version, old, mayRestore }: OneProps) {
  const a = around.value;
  const [isAsking, setAsking] = useState(false);
  const shown = found.find((one) => one.version === version);
  const others = found.filter((one) => one.version !== version);
  const act = async (): Promise<void> => {
    if (await done(() => restore(id, version), a.restored(version))) go(pagePath(id));
  };
  return (
    <>
      <div class="acts bar">
        <a class="button" href={historyPath(id)}>
          {a.allVersions}
        </a>
        {old > 0 && (
          <a class="button" href={historyPath(id, version)}>
            {a.showVersion(version)}
          </a>
        )}
        {others.length > 0 && (
          <label class="compare">
            {a.compareWith}
            <select
              value={String(old || "")}
              onChange={(event) => {
                const chosen = Number(event.currentTarget.value);
                const ends = [version, chosen].sort((x, y) => x - y);
                go(chosen ? historyPath(id, ends[1], ends[0]) : historyPath(id, version));
              }}
            >
              <option value="">–</option>
              {others.map((one) => (
                <option key={one.version} value={String(one.version)}>
                  {a.versionNo(one.version)}, {when(one.created_at)}
                </option>
              ))}
            </select>
          </label>
        )}
        {mayRestore && version !== present && (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            {a.restore}
          </button>
        )}
      </div>
      {shown && (
        <p>
          <Byline one={shown} />
        </p>
      )}
      {old > 0 ? (
        <Difference id={id} old={old} now={version} />
      ) : (
        <Text id={id} version={version} />
      )}
      {isAsking && (
        <Ask
          question={a.restoreAsk(version)}
          yes={a.restore}
          act={() => void act()}
          close={() => setAsking(false)}
        />
      )}
    </>
  );
}

interface Props {
  id: string;
  version: number;
  old: number;
}

export function Screen({ id, version, old }: Props) {
  const a = around.value;
  const node = usePage(id);
  const path = `/api/v1/nodes/${id}/revisions?limit=${AT_ONCE}`;
  const newest = useAnswer<Revision[]>(path, node?.version);
  const [older, setOlder] = useState<Revision[]>([]);
  useEffect(() => setOlder([]), [newest.answer]);
  const found = [...(newest.answer ?? []), ...older];
  const last = found.at(-1)?.version ?? 0;
  const more = async (): Promise<void> => {
    const next = `${path}&before=${last}`;
    await load<Revision[]>(next, (answer) => setOlder([...older, ...answer])).catch(newest.again);
  };
  const title = !node
    ? undefined
    : old
      ? a.difference(old, version)
      : version
        ? a.versionNo(version)
        : a.historyOf(node.title);
  const present = found[0]?.version ?? 0;
  const mayRestore = node !== undefined && mayWrite(node.role) && !node.trashed_at;
  return (
    <Frame title={title} answer={newest} back={backTo(id)}>
      {version ? (
        <One {...{ id, found, present, version, old, mayRestore }} />
      ) : (
        <>
          <Versions id={id} found={found} present={present} />
          {found.length >= AT_ONCE && last > 1 && (
            <button type="button" onClick={() => void more()}>
              {a.older}
            </button>
          )}
        </>
      )}
    </Frame>
  );
}
