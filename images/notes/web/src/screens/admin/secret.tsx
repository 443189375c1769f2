/** Something that is shown once, to be copied. It is in this screen's memory alone. */
import { useEffect, useRef } from "preact/hooks";
import { notice } from "../../app/store";
import { words } from "../../app/words";
import { adminWords } from "./tools";

interface Props {
  title: string;
  secret: string;
  /** Puts it away. */
  done: () => void;
}

export function Secret({ title, secret, done }: Props) {
  const w = adminWords();
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => root.current?.focus(), [secret]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(secret);
      notice.value = w.copied;
    } catch {
      notice.value = w.notCopied;
    }
  };
  return (
    <div class="sheet secret" role="group" aria-labelledby="secret-title" tabIndex={-1} ref={root}>
      <p id="secret-title">{title}</p>
      <code translate={false}>{secret}</code>
      <div class="buttons">
        <button type="button" onClick={() => void copy()}>
          {w.copy}
        </button>
        <button type="button" class="primary" onClick={done}>
          {words.value.done}
        </button>
      </div>
    </div>
  );
}
