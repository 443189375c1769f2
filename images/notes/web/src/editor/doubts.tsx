/** The list of doubtful places above the text: both wordings of each, and the decision. */
import type { EditorState } from "prosemirror-state";
import { words } from "../app/words";
import { choicesOf, decide, mineOf, theirsOf } from "./decide";
import { doubtsOf } from "./places";
import type { Session } from "./session";

function Wording({ id, label, text }: { id?: string; label: string; text: string }) {
  return (
    <p id={id} dir="auto">
      <small>{label}</small> {text ? <q>{text}</q> : <i>{words.value.nothingThere}</i>}
    </p>
  );
}

export function Doubts({ session, state }: { session: Session; state: EditorState }) {
  const w = words.value;
  const found = doubtsOf(state);
  return (
    <section class="refused doubts" aria-labelledby="doubts">
      <p id="doubts" role="status">
        {w.doubtfulPlaces(found.length)}
      </p>
      <ul>
        {found.map((one) => (
          <li key={one.id} data-doubt={one.id}>
            <Wording id={`mine ${one.id}`.replaceAll(" ", "-")} label={w.mine} text={mineOf(one)} />
            <Wording label={w.theirs} text={theirsOf(state, one)} />
            <div class="buttons">
              {choicesOf(state, one).map((choice) => (
                <button
                  key={choice}
                  type="button"
                  aria-describedby={`mine ${one.id}`.replaceAll(" ", "-")}
                  onClick={() => void decide(session, one.id, choice)}
                >
                  {{ mine: w.keepMine, theirs: w.keepTheirs, both: w.keepBoth }[choice]}
                </button>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
