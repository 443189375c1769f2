/** Finds a person or a group, and makes it a member of a space. */
import { useEffect, useState } from "preact/hooks";
import type { RoleName } from "../../api/types";
import { Form, reason } from "../admin/tools";
import { findPrincipals, type Principal } from "./find";
import { type Member, RolePick } from "./members";
import { manage } from "./words";

const PAUSE_MS = 150;

interface Props {
  space: string;
  members: Member[];
  add: (one: Omit<Member, "role">, role: RoleName) => Promise<void>;
}

/** The people and groups that a text finds, some moments after the last key. */
function useFound(
  space: string,
  text: string,
): { found: Principal[] | undefined; problem: string } {
  const [found, setFound] = useState<Principal[]>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let isLate = false;
    setFound(undefined);
    if (!text.trim()) return undefined;
    const timer = setTimeout(() => {
      setProblem("");
      findPrincipals(space, text).then(
        (answer) => !isLate && setFound(answer),
        (error) => !isLate && setProblem(reason(error)),
      );
    }, PAUSE_MS);
    return () => {
      isLate = true;
      clearTimeout(timer);
    };
  }, [space, text]);
  return { found, problem };
}

export function AddMember({ space, members, add }: Props) {
  const w = manage.value;
  const [text, setText] = useState("");
  const [role, setRole] = useState<RoleName>("editor");
  const { found, problem } = useFound(space, text);
  const inside = new Set(members.map((one) => one.principal));
  const choices = found?.filter((one) => !inside.has(one.id));
  const send = async (fields: FormData): Promise<void> => {
    const one = choices?.find((choice) => choice.id === fields.get("principal"));
    if (!one) return;
    await add({ principal: one.id, kind: one.kind, name: one.name }, role);
    // What was typed meanwhile stays.
    setText((now) => (now === text ? "" : now));
  };
  return (
    <details class="add">
      <summary>{w.addMember}</summary>
      <Form title={w.add} act={send} isKept>
        <label class="field">
          {w.findMember}
          <input
            type="search"
            value={text}
            autocomplete="off"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {problem && (
          <p class="refused" role="alert">
            {problem}
          </p>
        )}
        <p class="faint" role="status">
          {choices && (choices.length ? w.found(choices.length) : w.nobodyFound)}
        </p>
        {choices && choices.length > 0 && (
          <fieldset class="boxes">
            <legend>{w.chooseMember}</legend>
            {choices.map((one) => (
              <label key={one.id} class="check">
                <input type="radio" name="principal" value={one.id} required />
                <span dir="auto">
                  {one.name}
                  <small>{one.kind === "group" ? w.group : one.detail}</small>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        <label class="field">
          {w.role}
          <RolePick label={w.role} role={role} pick={setRole} />
        </label>
      </Form>
    </details>
  );
}
