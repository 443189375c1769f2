/** The list of doubtful places above the text: both wordings of each, and the decision. */
import type { EditorState } from "prosemirror-state";
import { words } from "../app/words";
import { decide } from "./decisions";
import { doubtsOf, mineOf, theirsOf } from "./places";
import type { Session } from "./session";

export function Doubts({ session, state }: { session: Session; state: EditorState }) {
  const w = words.value;
  const found = doubtsOf(state);
  if (!found.length) return null;
  return (
    <section class="refused doubts" aria-labelledby="doubts">
      <p id="doubts" role="status">
        {w.doubtfulPlaces(found.length)}
      </p>
      <ul>
        {found.map((one) => (
          <li key={one.id} data-doubt={one.id}>
            <p id={`mine ${one.id}`.replaceAll(" ", "-")} dir="auto">
              {w.mine} <q>{mineOf(one) || w.nothingThere}</q>
            </p>
            <p dir="auto">
              {w.theirs} <q>{theirsOf(state, one) || w.nothingThere}</q>
            </p>
            {[true, false].map((isMine) => (
              <button
                key={String(isMine)}
                type="button"
                aria-describedby={`mine ${one.id}`.replaceAll(" ", "-")}
                onClick={() => void decide(session, one.id, isMine)}
              >
                {isMine ? w.keepMine : w.keepTheirs}
              </button>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
