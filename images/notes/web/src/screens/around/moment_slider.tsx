/** Chooses one of all moments that are kept, by a slider and buttons. */
import { useEffect, useRef, useState } from "preact/hooks";
import { go } from "../../app/router";
import { locale } from "../../app/words";
import { beforeOf, type Bursts, momentsPath, type Other } from "./moment_asked";
import { around } from "./words";

export const format = (more: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "short", ...more });

/** How long a hand rests on the slider before the page of that moment is read. */
const REST_MS = 200;

interface SliderProps {
  id: string;
  kept: Bursts;
  seq: number;
  since: Other;
  at: string | undefined;
}

export function Slider({ id, kept, seq, since, at }: SliderProps) {
  const a = around.value;
  const [moved, setMoved] = useState(seq);
  const waiting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setMoved(seq), [seq]);
  useEffect(() => () => clearTimeout(waiting.current), []);
  const to = (next: number, rest = 0): void => {
    const chosen = Math.min(kept.last, Math.max(kept.first, next));
    setMoved(chosen);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => {
      const other = typeof since === "number" ? beforeOf(kept, chosen) : since;
      go(momentsPath(id, chosen, other), true);
    }, rest);
  };
  const place = a.momentOf(moved - kept.first, kept.last - kept.first);
  const time = at && moved === seq ? format({ timeStyle: "medium" }).format(new Date(at)) : "";
  return (
    <div class="moment-pick">
      <button
        type="button"
        aria-label={a.earlier}
        disabled={moved <= kept.first}
        onClick={() => to(moved - 1)}
      >
        −
      </button>
      <input
        type="range"
        aria-label={a.moment}
        aria-valuetext={time ? `${time}, ${place}` : place}
        min={kept.first}
        max={kept.last}
        step={1}
        value={moved}
        onInput={(event) => to(Number(event.currentTarget.value), REST_MS)}
      />
      <button
        type="button"
        aria-label={a.later}
        disabled={moved >= kept.last}
        onClick={() => to(moved + 1)}
      >
        +
      </button>
      <p class="moment-time" data-at={at && moved === seq ? seq : undefined}>
        <strong>{time || " "}</strong> <small class="faint">{place}</small>
      </p>
    </div>
  );
}
