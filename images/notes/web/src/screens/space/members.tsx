/** The members of a space with their roles; a change is sent at once. */
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { EndedError } from "../../api/signed_in";
import type { RoleName } from "../../api/types";
import { notice, readSpaces, userId } from "../../app/store";
import { words } from "../../app/words";
import { adminWords, Ask, reason, send, State, useLoaded } from "../admin/tools";
import { AddMember } from "./add_member";
import { type Member, RolePick } from "./role_pick";
import type { PartProps } from "./whole_space";
import { manage } from "./words";

const EVERYONE: RoleName[] = ["none", "viewer", "commenter", "editor"];

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
  /** Sets one member's role, or removes them; not if somebody else has just changed it. */
  const set = async (one: Omit<Member, "role">, role: RoleName | null): Promise<void> => {
    const at = `${path}/${one.principal}`;
    const former = members.data?.find((other) => other.principal === one.principal)?.role;
    try {
      if (role) {
        const base_role = former ?? "none";
        await send("PUT", at, { kind: one.kind, role, base_role });
      } else await send("DELETE", former ? `${at}?base_role=${former}` : at);
      notice.value = (!role ? w.memberRemoved : former ? w.memberChanged : w.memberAdded)(one.name);
    } catch (error) {
      const isOld =
        error instanceof ApiError && error.status === 409 && error.current !== undefined;
      throw isOld ? new ApiError(409, w.roleChanged) : error;
    } finally {
      // After a refusal, too: the list shows what somebody else has set.
      await members.again();
    }
    if (one.principal === userId() || one.kind === "group") await readSpaces();
  };
  const setEveryone = async (role: RoleName): Promise<void> => {
    setProblem("");
    try {
      await send("PATCH", `/api/v1/spaces/${space.id}`, { everyone_role: role });
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
