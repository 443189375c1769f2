/** A screen of a chunk of its own, with the words that it alone needs. */
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { noScript } from "../app/updates";
import { words } from "../app/words";
import { Message } from "./message";
import { Skeleton } from "./page";

/** What a chunk has: the screen, and its catalogue, which is loaded before it is drawn. */
export interface Part<P> {
  Screen: FunctionComponent<P>;
  ready?: () => Promise<void>;
}

type Props<P> = { open: () => Promise<Part<P>> } & P;

export function Lazy<P extends object>({ open, ...given }: Props<P>) {
  const [part, setPart] = useState<Part<P>>();
  const [failed, setFailed] = useState("");
  const [tries, setTries] = useState(0);
  useEffect(() => {
    setFailed("");
    open()
      .then(async (found) => {
        await found.ready?.();
        setPart(found);
      })
      .catch((error) => {
        setFailed(String(error));
        void noScript();
      });
  }, [tries]);
  if (part) return <part.Screen {...(given as unknown as P)} />;
  if (!failed) return <Skeleton />;
  return <Message title={words.value.failed} text={failed} retry={() => setTries(tries + 1)} />;
}
