/** A member of a space, and the choice of a role. */
import type { RoleName } from "../../api/types";
import { manage } from "./words";

export interface Member {
  principal: string;
  kind: "user" | "group";
  role: RoleName;
  name: string;
}

const ROLES: RoleName[] = ["viewer", "commenter", "editor", "manager"];

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
