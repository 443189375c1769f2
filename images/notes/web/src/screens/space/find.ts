/** Finds people and groups to give a role to. The only place that knows where they come from. */
import { get } from "../../api/client";
import { mayAdminister } from "../../app/store";

/** A person or a group. */
export interface Principal {
  id: string;
  kind: "user" | "group";
  name: string;
  /** What tells people of one name apart. */
  detail: string;
}

interface Listed {
  id: string;
  name: string;
  email?: string;
  disabled?: boolean;
}

/** True if this person can look people up. */
export const mayFind = (): boolean => mayAdminister.value;

/** The people and groups whose name or e-mail address has the text, at most 20. */
export async function findPrincipals(text: string): Promise<Principal[]> {
  const wanted = text.trim().toLocaleLowerCase();
  if (!wanted || !mayFind()) return [];
  const [people, groups] = await Promise.all([
    get<Listed[]>("/api/v1/users"),
    get<Listed[]>("/api/v1/groups"),
  ]);
  const kept = (one: Listed): boolean =>
    !one.disabled && `${one.name} ${one.email ?? ""}`.toLocaleLowerCase().includes(wanted);
  const named = (kind: Principal["kind"]) => (one: Listed) => ({
    id: one.id,
    kind,
    name: one.name,
    detail: one.email ?? "",
  });
  return [
    ...groups.filter(kept).map(named("group")),
    ...people.filter(kept).map(named("user")),
  ].slice(0, 20);
}
