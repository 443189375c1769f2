/** The members of a space with their roles; a change is sent at once. */
import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/client";
import { EndedError } from "../../api/signed_in";
import type { RoleName } from "../../api/types";
import { notice, readSpaces, userId } from "../../app/store";
import { words } from "../../app/words";
import { adminWords, Ask, reason, State, useLoaded } from "../admin/tools";
import { AddMember } from "./add_member";
import type { PartProps } from "./settings";
import { change } from "./tools";
import { manage } from "./words";

export interface Member {
  principal: string;
  kind: "user" | "group";
  role: RoleName;
  name: string;
}

const ROLES: RoleName[] = ["viewer", "commenter", "editor", "manager"];
const EVERYONE: RoleName[] = ["none", "viewer", "commenter", "editor"];

interface PickProps {
  label: string;
  role: RoleName;
  among?: RoleName[];
  pick: (role: RoleName) => void;
}

/** A choice of a role. */
export function RolePick({ label, role, among = ROLES, pick }: PickProps) {
  return (
    <select
      aria-label={label}
      value={role}
      onChange={(event) => pick(event.currentTarget.value as RoleName)}
    >
      {among.map((one) => (
        <option key={one} value={one}>
          {manage.value.roles[one]}
        </option>
      ))}
    </select>
  );
}

interface RowProps {
  member: Member;
  set: (role: RoleName | null) => Promise<void>;
}

function Row({ member, set }: RowProps) {
  const w = manage.value;
  const [asked, setAsked] = useState<RoleName | "remove">();
  const [problem, setProblem] = useState("");
  const isSelf = member.principal === userId();
  const back = (): void => {
    setAsked(undefined);
    document.querySelector<HTMLElement>(`[data-member="${member.principal}"] select`)?.focus();
  };
  const pick = (role: RoleName): void => {
    setProblem("");
    if (isSelf && member.role === "manager") setAsked(role);
    else set(role).catch((error) => setProblem(reason(error)));
  };
  const question = isSelf ? w.removeSelfAsk : w.removeMemberAsk(member.name);
  return (
    <li data-member={member.principal}>
      <div class="line-item">
        <strong class="grow" dir="auto">
          {member.name}
        </strong>
        {member.kind === "group" && <span class="chip">{w.group}</span>}
        {isSelf && <span class="chip">{adminWords().thatIsYou}</span>}
        <div class="acts">
          <RolePick label={w.roleOf(member.name)} role={member.role} pick={pick} />
          <button
            type="button"
            aria-label={w.removeMember(member.name)}
            onClick={() => setAsked("remove")}
          >
            {words.value.remove}
          </button>
        </div>
      </div>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      {asked === "remove" && (
        <Ask
          question={question}
          title={words.value.remove}
          act={async () => {
            await set(null);
            document.getElementById("space-members")?.focus();
          }}
          cancel={back}
        />
      )}
      {asked && asked !== "remove" && (
        <Ask
          question={w.lowerSelfAsk}
          title={w.giveUp}
          act={async () => {
            await set(asked);
            back();
          }}
          cancel={back}
        />
      )}
    </li>
  );
}

export function Members({ space, again }: PartProps) {
  const w = manage.value;
  const path = `/api/v1/spaces/${space.id}/members`;
  const members = useLoaded<Member[]>(path);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (members.data) void members.again();
  }, [space]);
  /** Sets one member's role, or removes them, in what the server has at this moment. */
  const set = async (one: Omit<Member, "role">, role: RoleName | null): Promise<void> => {
    const now = await get<Member[]>(path);
    const others = now.filter((other) => other.principal !== one.principal);
    const isNew = others.length === now.length;
    const { principal, kind } = one;
    const grants = role ? [...others, { principal, kind, role }] : others;
    await change("PUT", path, { grants });
    const said = !role ? w.memberRemoved : isNew ? w.memberAdded : w.memberChanged;
    notice.value = said(one.name);
    await members.again();
    if (one.principal === userId() || one.kind === "group") await readSpaces();
  };
  const setEveryone = async (role: RoleName): Promise<void> => {
    setProblem("");
    try {
      await change("PATCH", `/api/v1/spaces/${space.id}`, { everyone_role: role });
      notice.value = w.saved;
      await again();
    } catch (error) {
      if (!(error instanceof EndedError)) setProblem(reason(error));
    }
  };
  const listed = members.data ?? [];
  return (
    <section aria-labelledby="space-members">
      <h2 id="space-members" tabIndex={-1}>
        {w.members}
      </h2>
      <p class="faint">{w.membersText}</p>
      <State of={members} />
      <ul class="rows">
        <li>
          <div class="line-item">
            <div class="grow">
              <strong>{w.everyone}</strong>
              <small>{w.everyoneText}</small>
            </div>
            <RolePick
              label={w.roleOf(w.everyone)}
              role={space.everyone_role}
              among={EVERYONE}
              pick={(role) => void setEveryone(role)}
            />
          </div>
          {problem && (
            <p class="refused" role="alert">
              {problem}
            </p>
          )}
        </li>
        {listed.map((one) => (
          <Row key={one.principal} member={one} set={(role) => set(one, role)} />
        ))}
      </ul>
      <AddMember space={space.id} members={listed} add={set} />
      <h3>{w.insiders}</h3>
      <p class="faint">{space.everyone_role === "none" ? w.insidersMembers : w.insidersAll}</p>
    </section>
  );
}
