/** The audit log: who changed what, newest first, of all spaces, a space or a page; older entries on request. */
import { useState } from "preact/hooks";
import { load } from "../../api/signed_in";
import { pagePath } from "../../app/routes";
import { spaces } from "../../app/store";
import { locale } from "../../app/words";
import { adminWords, reason, State, useLoaded } from "./tools";

interface Entry {
  id: number;
  at: string;
  actor_id: string | null;
  actor_name: string;
  action: string;
  subject: string;
  space_id: string | null;
  node_id: string | null;
  detail: Record<string, unknown>;
}

const PAGE = 50;
/** The name that the server gives itself where it acts for nobody. */
const HOUSEKEEPING = "housekeeping";

interface Of {
  space?: string;
  page?: string;
}

function pathOf({ space, page }: Of, before?: number): string {
  const filter = page ? `&node_id=${page}` : space ? `&space_id=${space}` : "";
  return `/api/v1/audit?limit=${PAGE}${filter}${before ? `&before=${before}` : ""}`;
}

const moment = (at: string): string =>
  new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "short" }).format(
    new Date(at),
  );

/** A change of a role; `none` is that of who has lost theirs. */
interface RoleChange {
  principal: string;
  name: string;
  role: string;
}

const changeOf = (one: RoleChange): string => `${one.name || one.principal} → ${one.role}`;

function valueOf(name: string, value: unknown): string {
  if (name === "roles" && Array.isArray(value)) return value.map(changeOf).join(", ") || "—";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What the entry says more, by the names that the API gives it. */
const more = (detail: Record<string, unknown>): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${valueOf(name, value)}`)
    .join(", ");

function Line({ entry }: { entry: Entry }) {
  const w = adminWords();
  const space = spaces.value.find((one) => one.id === entry.space_id)?.name;
  // A page that is gone for ever has no address any more.
  const isByItself = entry.actor_id === null && entry.actor_name === HOUSEKEEPING;
  const isLinked = entry.node_id !== null && entry.action !== "page.deleted";
  return (
    <li>
      <div class="line-item">
        <div class="grow">
          <span>
            <strong dir="auto">{isByItself ? w.byItself : entry.actor_name}</strong>
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
          {Object.keys(entry.detail).length > 0 && (
            <small>
              <code dir="ltr">{more(entry.detail)}</code>
            </small>
          )}
        </div>
      </div>
    </li>
  );
}

/** The entries of one filter. A key of its own for each keeps older entries of another away. */
export function Entries(of: Of) {
  const w = adminWords();
  const newest = useLoaded<Entry[]>(pathOf(of));
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
      await load<Entry[]>(pathOf(of, all.at(-1)?.id), (found) => {
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
