/** The groups and their members. */
import { useState } from "preact/hooks";
import { notice } from "../../app/store";
import { words } from "../../app/words";
import type { User } from "./people";
import { adminWords, Ask, Field, Form, send, State, textOf, useLoaded } from "./tools";

interface Group {
  id: string;
  name: string;
  members: string[];
}

interface EditProps {
  group?: Group;
  users: User[];
  act: (body: { name: string; members: string[] }) => Promise<void>;
  cancel?: () => void;
}

/** The fields of a group: its name, and a box for each person. */
function Edit({ group, users, act, cancel }: EditProps) {
  const w = adminWords();
  const save = (fields: FormData): Promise<void> =>
    act({ name: textOf(fields, "name"), members: fields.getAll("member").map(String) });
  return (
    <Form title={group ? w.save : w.add} act={save} {...(cancel ? { cancel, isKept: true } : {})}>
      <Field name="name" label={w.groupName} value={group?.name ?? ""} />
      <fieldset class="boxes">
        <legend>{w.members}</legend>
        {users.map((user) => (
          <label key={user.id} class="check">
            <input
              type="checkbox"
              name="member"
              value={user.id}
              defaultChecked={group?.members.includes(user.id) ?? false}
            />
            <span dir="auto">
              {user.name}
              <small>{user.email}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </Form>
  );
}

interface RowProps {
  group: Group;
  users: User[];
  again: () => Promise<void>;
}

function Row({ group, users, again }: RowProps) {
  const w = adminWords();
  const [asked, setAsked] = useState<"" | "edit" | "remove">("");
  const names = users.filter((user) => group.members.includes(user.id)).map((user) => user.name);
  const back = (): void => {
    setAsked("");
    document.querySelector<HTMLElement>(`[data-group="${group.id}"] button`)?.focus();
  };
  const save = async (body: object): Promise<void> => {
    await send("PUT", `/api/v1/groups/${group.id}`, body);
    notice.value = w.saved;
    back();
    await again();
  };
  const remove = async (): Promise<void> => {
    await send("DELETE", `/api/v1/groups/${group.id}`);
    notice.value = w.groupRemoved(group.name);
    document.getElementById("admin-part")?.focus();
    await again();
  };
  return (
    <li data-group={group.id}>
      <div class="line-item">
        <div class="grow">
          <strong dir="auto">{group.name}</strong>
          <small dir="auto">{names.length ? w.list(names) : w.noMembers}</small>
        </div>
        <button
          type="button"
          aria-label={w.editGroup(group.name)}
          aria-expanded={asked === "edit"}
          onClick={() => setAsked(asked === "edit" ? "" : "edit")}
        >
          {words.value.edit}
        </button>
        <button
          type="button"
          aria-label={w.removeGroup(group.name)}
          onClick={() => setAsked("remove")}
        >
          {words.value.remove}
        </button>
      </div>
      {asked === "edit" && <Edit group={group} users={users} act={save} cancel={back} />}
      {asked === "remove" && (
        <Ask
          question={w.removeGroupAsk(group.name)}
          title={words.value.remove}
          act={remove}
          cancel={back}
        />
      )}
    </li>
  );
}

export function Groups() {
  const w = adminWords();
  const groups = useLoaded<Group[]>("/api/v1/groups");
  const users = useLoaded<User[]>("/api/v1/users");
  const add = async (body: { name: string; members: string[] }): Promise<void> => {
    await send("POST", "/api/v1/groups", body);
    notice.value = w.groupAdded(body.name);
    await groups.again();
  };
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part" tabIndex={-1}>
        {w.parts.groups}
      </h2>
      <p class="faint">{w.groupsText}</p>
      <State of={groups} />
      <State of={users} />
      {groups.data && users.data && (
        <>
          <details class="add">
            <summary>{w.addGroup}</summary>
            <Edit users={users.data} act={add} />
          </details>
          {!groups.data.length && <p class="faint">{w.noGroups}</p>}
          <ul class="rows">
            {groups.data.map((group) => (
              <Row key={group.id} group={group} users={users.data ?? []} again={groups.again} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
