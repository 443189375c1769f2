/** A page that was made without a network, and that the server has refused: where it may be made, or given up. */
import { useId, useState } from "preact/hooks";
import { mayWrite } from "../../api/types";
import { spaces } from "../../app/store";
import type { KeptRequest } from "../../sync/stored";
import { Ask, done } from "../around/parts";
import { giveUp, insist, insistThere } from "./requests";
import { beside } from "./words";

export function LostPage({ one, named }: { one: KeptRequest; named: string }) {
  const b = beside.value;
  const id = useId();
  const possible = spaces.value.filter((space) => mayWrite(space.role));
  const first = possible.find((space) => space.id === one.made?.space) ?? possible[0];
  const [chosen, setChosen] = useState("");
  const [isAsking, setAsking] = useState(false);
  const target = chosen || (first?.id ?? "");
  return (
    <div class="buttons">
      <button
        type="button"
        aria-describedby={named}
        onClick={() => void done(() => insist(one), b.doneAgain)}
      >
        {b.doAgain}
      </button>
      {target && (
        <>
          <label for={id}>{b.inOther}</label>
          <select id={id} value={target} onChange={(event) => setChosen(event.currentTarget.value)}>
            {possible.map((space) => (
              <option key={space.id} value={space.id}>
                {space.name}
              </option>
            ))}
          </select>
          <button
            type="button"
            aria-describedby={named}
            onClick={() => void done(() => insistThere(one, target), b.doneAgain)}
          >
            {b.makeThere}
          </button>
        </>
      )}
      <button type="button" aria-describedby={named} onClick={() => setAsking(true)}>
        {b.giveUp}
      </button>
      {isAsking && (
        <Ask
          question={b.giveUpPage}
          yes={b.giveUp}
          act={() => void giveUp(one)}
          close={() => setAsking(false)}
        />
      )}
    </div>
  );
}
