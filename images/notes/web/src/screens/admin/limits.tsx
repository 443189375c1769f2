/** The limits of people and spaces: the defaults, and those of one space or one person. */
import { useState } from "preact/hooks";
import { notice, spaces } from "../../app/store";
import { size } from "../../app/words";
import { manage } from "../space/words";
import { KeptEdits } from "./edit_log";
import type { User } from "./people";
import { adminWords, Form, send, State, textOf, useLoaded } from "./tools";
import { type Share, Used } from "./used";

type Numbers = Record<string, number>;
type Usage = Record<string, Share>;

const GIGABYTE = 1e9;
const isBytes = (name: string): boolean => name.endsWith("bytes");

/** A limit as a field shows it: bytes in GB. */
const shown = (name: string, limit: number): string =>
  String(isBytes(name) ? Math.round(limit / (GIGABYTE / 1000)) / 1000 : limit);

/** What a field says; the limit itself where nobody has changed it, since GB are rounded. */
function given(fields: FormData, name: string, before: number | undefined): number | null {
  const text = textOf(fields, name);
  if (text === "") return null;
  if (before !== undefined && text === shown(name, before)) return before;
  return Math.round(Number(text) * (isBytes(name) ? GIGABYTE : 1));
}

interface AmountProps {
  name: string;
  label: string;
  value: number | undefined;
  isOptional?: boolean;
}

function Amount({ name, label, value, isOptional = false }: AmountProps) {
  return (
    <label class="field">
      {label}
      <input
        type="number"
        name={name}
        min={0}
        max={isBytes(name) ? 2 ** 50 / GIGABYTE : 2 ** 50}
        step={isBytes(name) ? "any" : 1}
        required={!isOptional}
        defaultValue={value === undefined ? "" : shown(name, value)}
      />
    </label>
  );
}

function Defaults() {
  const w = manage.value;
  const quotas = useLoaded<Numbers>("/api/v1/quotas");
  const found = quotas.data;
  const names = {
    account_bytes: w.accountBytes,
    account_pages: w.accountPages,
    account_spaces: w.accountSpaces,
    space_bytes: w.spaceBytes,
    space_pages: w.spacePages,
  };
  const save = async (fields: FormData): Promise<void> => {
    const body: Record<string, number | null> = {};
    for (const name of Object.keys(names)) body[name] = given(fields, name, found?.[name]);
    await send("PUT", "/api/v1/quotas", body);
    notice.value = w.saved;
    await quotas.again();
  };
  return (
    <section aria-labelledby="limits-defaults">
      <h3 id="limits-defaults">{w.defaults}</h3>
      <State of={quotas} />
      {found && (
        <Form title={w.save} act={save} isKept>
          <div class="two">
            {Object.entries(names).map(([name, label]) => (
              <Amount key={name} name={name} label={label} value={found[name]} />
            ))}
          </div>
        </Form>
      )}
    </section>
  );
}

/** The use and the own limits of what is at a path of the API. */
function Own({ path, name }: { path: string; name: string }) {
  const w = manage.value;
  const usage = useLoaded<Usage>(`${path}/usage`);
  const found = usage.data;
  const titles: Record<string, string> = { bytes: w.bytes, pages: w.pages, spaces: w.spaces };
  const say = (what: string, n: number): string =>
    what === "bytes" ? size(n) : adminWords().number(n);
  const own = (what: string): number | undefined =>
    found?.[what]?.is_own ? found[what].limit : undefined;
  const save = async (fields: FormData): Promise<void> => {
    const body: Record<string, number | null> = {};
    for (const what of Object.keys(found ?? {})) body[what] = given(fields, what, own(what));
    await send("PUT", `${path}/quota`, body);
    notice.value = w.limitsSaved(name);
    await usage.again();
  };
  return (
    <>
      <State of={usage} />
      {found && (
        <>
          <ul class="uses">
            {Object.entries(found).map(([what, share]) => (
              <Used
                key={what}
                title={titles[what] ?? what}
                share={share}
                text={w.of(say(what, share.used), say(what, share.limit))}
              />
            ))}
          </ul>
          <Form title={w.save} act={save} isKept>
            <p class="faint">
              {w.ownLimits}. {w.ownLimitsText}
            </p>
            <div class="two">
              {Object.keys(found).map((what) => (
                <Amount
                  key={what}
                  name={what}
                  label={what === "bytes" ? w.gigabytes : (titles[what] ?? what)}
                  value={own(what)}
                  isOptional
                />
              ))}
            </div>
          </Form>
        </>
      )}
    </>
  );
}

interface OneProps {
  title: string;
  label: string;
  folder: string;
  listed: { id: string; name: string; email?: string }[];
}

/** A choice of one space or person, with its use and its limits. */
function One({ title, label, folder, listed }: OneProps) {
  const w = manage.value;
  const [id, setId] = useState("");
  const heading = `limits-${folder}`;
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading}>{title}</h3>
      <label class="field">
        {label}
        <select value={id} onChange={(event) => setId(event.currentTarget.value)}>
          <option value="">{w.choose}</option>
          {listed.map((one) => (
            <option key={one.id} value={one.id}>
              {one.email ? `${one.name} (${one.email})` : one.name}
            </option>
          ))}
        </select>
      </label>
      {id && (
        <Own
          key={id}
          path={`/api/v1/${folder}/${id}`}
          name={listed.find((one) => one.id === id)?.name ?? ""}
        />
      )}
    </section>
  );
}

export function Limits() {
  const w = manage.value;
  const users = useLoaded<User[]>("/api/v1/users");
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part">{adminWords().parts.limits}</h2>
      <p class="faint">{w.limitsText}</p>
      <Defaults />
      <KeptEdits />
      <One title={w.limitsOfSpace} label={w.space} folder="spaces" listed={spaces.value} />
      <State of={users} />
      <One title={w.limitsOfPerson} label={w.person} folder="users" listed={users.data ?? []} />
    </section>
  );
}
