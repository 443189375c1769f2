/** Finds a person or a group by the beginning of a name: for the permissions of a page and the members of a space. */
import { useEffect, useState } from "preact/hooks";
import { EndedError, load } from "../../api/signed_in";
import { Picker } from "./picker";

/** A person or a group. */
export interface Principal {
  id: string;
  kind: "user" | "group";
  name: string;
  /** What tells people of one name apart; for administrators alone. */
  email: string | null;
}

/** The fewest letters of a name that the server looks for. */
const FEWEST = 2;
const PAUSE_MS = 200;

const isEnough = (typed: string): boolean => [...typed.trim()].length >= FEWEST;

/** The people and groups that a text finds, some moments after the last key; undefined before that. */
function useFound(path: string, typed: string, reason: (error: unknown) => string) {
  const [found, setFound] = useState<Principal[]>();
  const [problem, setProblem] = useState("");
  const text = typed.trim();
  useEffect(() => {
    setProblem("");
    setFound(undefined);
    if (!isEnough(text)) return undefined;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const asked = `${path}/people?q=${encodeURIComponent(text)}`;
      load<Principal[]>(asked, setFound, { signal: stop.signal }).catch((error) => {
        if (!(error instanceof EndedError) && !stop.signal.aborted) setProblem(reason(error));
      });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [path, text]);
  return { found, problem };
}

interface Props {
  /** The page or the space in the API. */
  path: string;
  label: string;
  hint?: string;
  typed: string;
  type: (typed: string) => void;
  /** Those who are in the list already: they are not found again. */
  known: ReadonlySet<string>;
  chosen?: string;
  pick: (one: Principal) => void;
  /** The word for a group. */
  group: string;
  /** Said when nobody is found. */
  nobody: string;
  /** Says in words what went wrong. */
  reason: (error: unknown) => string;
}

export function FindPeople(props: Props) {
  const { path, typed, known, pick, group, nobody, reason, ...shown } = props;
  const { found, problem } = useFound(path, typed, reason);
  const others = (found ?? []).filter((one) => !known.has(one.id));
  return (
    <Picker
      {...shown}
      typed={typed}
      options={others.map((one) => ({
        id: one.id,
        text: one.name,
        detail: one.kind === "group" ? group : (one.email ?? ""),
      }))}
      pick={(id) => {
        const one = others.find((other) => other.id === id);
        if (one) pick(one);
      }}
      nothing={problem || (found && !others.length ? nobody : "")}
    />
  );
}
