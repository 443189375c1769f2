/** Makes a person or a group that is found a member of a space. */
import { useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import type { RoleName } from "../../api/types";
import { FindPeople, type Principal } from "../beside/find_people";
import { Form, reason } from "../admin/tools";
import { type Member, RolePick } from "./role_pick";
import { manage } from "./words";

interface Props {
  space: string;
  members: Member[];
  add: (one: Omit<Member, "role">, role: RoleName) => Promise<void>;
}

export function AddMember({ space, members, add }: Props) {
  const w = manage.value;
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<Principal>();
  const [role, setRole] = useState<RoleName>("editor");
  const send = async (): Promise<void> => {
    if (!chosen) throw new ApiError(422, w.chooseFirst);
    await add({ principal: chosen.id, kind: chosen.kind, name: chosen.name }, role);
    setChosen(undefined);
    // What was typed meanwhile stays.
    setText((now) => (now === text ? "" : now));
  };
  return (
    <details class="add">
      <summary>{w.addMember}</summary>
      <Form title={w.add} act={send} isKept>
        <FindPeople
          path={`/api/v1/spaces/${space}`}
          label={w.findMember}
          hint={w.chooseMember}
          typed={text}
          type={(typed) => {
            setText(typed);
            setChosen(undefined);
          }}
          known={new Set(members.map((one) => one.principal))}
          chosen={chosen?.id ?? ""}
          pick={setChosen}
          group={w.group}
          nobody={w.nobodyFound}
          reason={reason}
        />
        <label class="field">
          {w.role}
          <RolePick label={w.role} role={role} pick={setRole} />
        </label>
      </Form>
    </details>
  );
}
