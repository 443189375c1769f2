/** Finds people and groups to give a role to. The only place that knows where they come from. */
import { get } from "../../api/client";

/** The fewest letters of a name that the server looks for. */
const FEWEST = 2;

/** A person or a group. */
export interface Principal {
  id: string;
  kind: "user" | "group";
  name: string;
  /** What tells people of one name apart: the address, for administrators. */
  detail: string;
}

type Answer = Omit<Principal, "detail"> & { email: string | null };

/** The people and groups that may become members of a space and whose name begins with the text. */
export async function findPrincipals(space: string, text: string): Promise<Principal[]> {
  const typed = text.trim();
  if ([...typed].length < FEWEST) return [];
  const path = `/api/v1/spaces/${space}/people?q=${encodeURIComponent(typed)}`;
  const found = await get<Answer[]>(path);
  return found.map(({ email, ...one }) => ({ ...one, detail: email ?? "" }));
}
