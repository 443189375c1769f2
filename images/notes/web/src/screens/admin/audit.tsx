/** The audit log: who changed what, newest first, of all spaces or of one; older entries on request. */
import { useState } from "preact/hooks";
import { load } from "../../api/signed_in";
import { pagePath } from "../../app/routes";
import { spaces } from "../../app/store";
import { locale } from "../../app/words";
import { adminWords, reason, State, useLoaded } from "./tools";

interface Entry {
  id: number;
  at: string;
  actor_name: string;
  action: string;
  subject: string;
  space_id: string | null;
  node_id: string | null;
}

const PAGE = 50;

const pathOf = (space: string, before?: number): string =>
  `/api/v1/audit?limit=${PAGE}${space && `&space_id=${space}`}${before ? `&before=${before}` : ""}`;

const moment = (at: string): string =>
  new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "short" }).format(
    new Date(at),
  );

function Line({ entry }: { entry: Entry }) {
  const w = adminWords();
  const space = spaces.value.find((one) => one.id === entry.space_id)?.name;
  // A page that is gone for ever has no address any more.
  const isLinked = entry.node_id !== null && entry.action !== "page.deleted";
  return (
    <li>
      <div class="line-item">
        <div class="grow">
          <span>
            <strong dir="auto">{entry.actor_name}</strong>
            {" · "}
            <span title={entry.action}>{w.actions[entry.action] ?? entry.action}</span>
            {": "}
            {isLinked ? (
              <a dir="auto" href={pagePath(entry.node_id ?? "")}>
                {entry.subject}
              </a>
            ) : (
              <span dir="auto">{entry.subject}</span>
            )}
          </span>
          <small>
            <time dateTime={entry.at}>{moment(entry.at)}</time>
            {space && ` · ${space}`}
          </small>
        </div>
      </div>
    </li>
  );
}

/** The entries of one filter. A key of its own for each keeps older entries of another away. */
function Entries({ space }: { space: string }) {
  const w = adminWords();
  const newest = useLoaded<Entry[]>(pathOf(space));
  const [older, setOlder] = useState<Entry[]>([]);
  const [isEnd, setEnd] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const all = [...(newest.data ?? []), ...older];
  const mayGoOn = newest.data !== undefined && newest.data.length === PAGE && !isEnd;
  const more = async (): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setProblem("");
    try {
      await load<Entry[]>(pathOf(space, all.at(-1)?.id), (found) => {
        setOlder([...older, ...found]);
        setEnd(found.length < PAGE);
      });
    } catch (error) {
      setProblem(reason(error));
    }
    setBusy(false);
  };
  return (
    <>
      <State of={newest} />
      {newest.data && !all.length && <p class="faint">{w.noEntries}</p>}
      <ul class="rows">
        {all.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
      </ul>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      {mayGoOn && (
        <button type="button" aria-disabled={isBusy} onClick={() => void more()}>
          {w.older}
        </button>
      )}
      {newest.data && (
        <p class="faint" role="status">
          {w.entries(all.length)}
        </p>
      )}
    </>
  );
}

export function AuditLog() {
  const w = adminWords();
  const [space, setSpace] = useState("");
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part">{w.parts.audit}</h2>
      <label class="field">
        {w.ofSpace}
        <select value={space} onChange={(event) => setSpace(event.currentTarget.value)}>
          <option value="">{w.allSpaces}</option>
          {spaces.value.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
      </label>
      <Entries key={space} space={space} />
    </section>
  );
}
