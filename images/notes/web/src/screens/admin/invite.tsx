/** The form that invites a person: an address, and the rights that the account will have. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { RoleName, Space } from "../../api/types";
import { spaces } from "../../app/store";
import { manage } from "../space/words";
import { adminWords, Field, Form, send, State, textOf, useLoaded } from "./tools";

export interface Invitation {
  id: string;
  email: string;
  name: string;
  is_admin: boolean;
  groups: string[];
  spaces: { space_id: string; role: RoleName }[];
  made_by_name: string;
  expires_at: string;
  accepted_at: string | null;
  holds: boolean;
}

export type NewInvitation = Invitation & { url: string };

interface Group {
  id: string;
  name: string;
}

const DAYS = [1, 3, 7, 14, 30];
const ROLES: RoleName[] = ["none", "viewer", "commenter", "editor", "manager"];
const ROLE = "role of ";

const rolesOf = (fields: FormData): { space_id: string; role: string }[] =>
  [...fields.keys()]
    .filter((name) => name.startsWith(ROLE) && textOf(fields, name) !== "none")
    .map((name) => ({ space_id: name.slice(ROLE.length), role: textOf(fields, name) }));

function Groups({ groups }: { groups: Group[] }) {
  return (
    <fieldset class="boxes">
      <legend>{adminWords().parts.groups}</legend>
      {groups.map((group) => (
        <label key={group.id} class="check">
          <input type="checkbox" name="group" value={group.id} />
          <span dir="auto">{group.name}</span>
        </label>
      ))}
    </fieldset>
  );
}

function Roles({ all }: { all: Space[] }) {
  return (
    <fieldset class="boxes">
      <legend>{adminWords().invitedTo}</legend>
      {all.map((space) => (
        <label key={space.id} class="line-item">
          <span class="grow" dir="auto">
            {space.name}
          </span>
          <select name={ROLE + space.id}>
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {manage.value.roles[role]}
              </option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  );
}

interface Props {
  made: (invitation: NewInvitation) => Promise<void>;
  cancel: () => void;
}

export function Invite({ made, cancel }: Props) {
  const w = adminWords();
  const root = useRef<HTMLDivElement>(null);
  const groups = useLoaded<Group[]>("/api/v1/groups");
  // Before the next key: what is typed right after the button belongs to the address.
  useLayoutEffect(() => root.current?.querySelector("input")?.focus(), []);
  const invite = async (fields: FormData): Promise<void> =>
    made(
      await send<NewInvitation>("POST", "/api/v1/invitations", {
        email: textOf(fields, "email"),
        name: textOf(fields, "name").trim() || null,
        is_admin: fields.has("is_admin"),
        groups: fields.getAll("group").map(String),
        spaces: rolesOf(fields),
        days: Number(textOf(fields, "days")),
      }),
    );
  return (
    <div ref={root} data-invite>
      <Form title={w.makeInvitation} act={invite} cancel={cancel}>
        <p class="faint">{w.inviteText}</p>
        <Field name="email" label={w.email} type="email" most={254} />
        <Field name="name" label={w.name} isOptional hint={w.invitedNameHint} />
        <label class="check">
          <input type="checkbox" name="is_admin" />
          <span>{w.administrator}</span>
        </label>
        <State of={groups} />
        {groups.data && groups.data.length > 0 && <Groups groups={groups.data} />}
        {spaces.value.length > 0 && <Roles all={spaces.value} />}
        <label class="field">
          {w.tokenEnds}
          <select name="days">
            {DAYS.map((days) => (
              <option key={days} value={days} selected={days === 7}>
                {w.inDays(days)}
              </option>
            ))}
          </select>
        </label>
      </Form>
    </div>
  );
}
