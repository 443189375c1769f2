/** The account and the administration: their scripts are loaded when they are first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { AdminPart } from "../../app/routes";
import { mayAdminister, me } from "../../app/store";
import { noScript } from "../../app/updates";
import { words } from "../../app/words";
import { Message } from "../message";

/** Draws what `read` loads; a failure to load is said, and can be tried again. */
function useLoadedScript<P>(read: () => Promise<ComponentType<P>>) {
  const [Part, setPart] = useState<{ Shown: ComponentType<P> }>();
  const [isFailed, setFailed] = useState(false);
  const load = (): void => {
    setFailed(false);
    read().then(
      (Shown) => setPart({ Shown }),
      () => {
        setFailed(true);
        void noScript();
      },
    );
  };
  useEffect(load, []);
  return { Shown: Part?.Shown, isFailed, load };
}

interface Waiting {
  isFailed: boolean;
  load: () => void;
}

function Wait({ isFailed, load }: Waiting) {
  const w = words.value;
  if (isFailed) return <Message title={w.failed} text={w.notReached} retry={load} />;
  return (
    <p class="unseen" role="status">
      {w.loading}
    </p>
  );
}

export function AccountScreen() {
  const { Shown, ...waiting } = useLoadedScript(async () => {
    const found = await import("./account");
    await found.ready();
    return found.Account;
  });
  // Another person begins with empty fields.
  return Shown ? <Shown key={me.value?.id} /> : <Wait {...waiting} />;
}

function LoadedAdministration({ part }: { part: AdminPart }) {
  const { Shown, ...waiting } = useLoadedScript(async () => {
    const found = await import("./administration");
    await found.ready();
    return found.Administration;
  });
  return Shown ? <Shown key={me.value?.id} part={part} /> : <Wait {...waiting} />;
}

export function AdminScreen({ part }: { part: AdminPart }) {
  const w = words.value;
  // The server decides; who may not is not even shown that there is something.
  if (!mayAdminister.value)
    return (
      <Message title={w.notFound} text={w.notFoundText} action={{ title: w.home, path: "/w" }} />
    );
  return <LoadedAdministration part={part} />;
}
