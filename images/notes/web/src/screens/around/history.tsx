/** The history of a page: its versions, one of them, what changed between two, a restore; or its moments. */
import { useEffect, useState } from "preact/hooks";
import { load } from "../../api/signed_in";
import { mayWrite } from "../../api/types";
import { go, visit } from "../../app/router";
import { historyPath, pagePath } from "../../app/routes";
import { when } from "../../app/words";
import { Difference } from "./difference";
import { momentAsked } from "./moment_asked";
import { Moments, Ways } from "./moments";
import { Old, type OldPage } from "./old";
import { Ask, backTo, done, Frame, useAnswer, usePage } from "./parts";
import { restore } from "./restore";
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
  return <Old found={useAnswer<OldPage>(`/api/v1/nodes/${id}/revisions/${version}`)} />;
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
    if (await done(() => restore(id, `revisions/${version}`), a.restored(version)))
      go(pagePath(id));
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
        <Difference path={`/api/v1/nodes/${id}/diff?old=${old}&new=${version}`} />
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

/** The moments if the address asks for them, else the versions. */
export function Screen(given: Props) {
  // The address has more than the route when only its query changes.
  const asked = visit.value.number >= 0 ? momentAsked(location.search) : undefined;
  return asked ? <Moments id={given.id} {...asked} /> : <Versioned {...given} />;
}

function Versioned({ id, version, old }: Props) {
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
          <Ways id={id} isMoments={false} />
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
