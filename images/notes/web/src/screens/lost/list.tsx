/** The list of texts whose pages are gone, and of their files: each text is saved as a new page, or given up. */
import { useId, useState } from "preact/hooks";
import { mayWrite } from "../../api/types";
import { go } from "../../app/router";
import { pagePath } from "../../app/routes";
import { isOnline, spaces, userId } from "../../app/store";
import { Ask, done } from "../around/parts";
import { Lost as Requests } from "../beside/lost";
import { Files } from "./file_list";
import { filesWith, giveUp, saveAsFile, saveAsNew, type Text, texts } from "./texts";
import { lostWords } from "./words";

/** So much of a text is shown until one asks for all of it. */
const SHOWN = 200;

function Row({ one }: { one: Text }) {
  const l = lostWords.value;
  const id = useId();
  const [chosen, setChosen] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const possible = spaces.value.filter((space) => mayWrite(space.role));
  const first = possible.find((space) => space.id === one.space) ?? possible[0];
  const target = chosen || (first?.id ?? "");
  const save = async (): Promise<void> => {
    let page = "";
    setBusy(true);
    const act = async (): Promise<void> => {
      page = await saveAsNew(one, target);
    };
    if (await done(act, l.saved(one.title))) go(pagePath(page));
    else setBusy(false);
  };
  return (
    <li data-lost-text={one.client}>
      <p id={id} dir="auto">
        <small>{one.reason}</small>
        <strong>{one.title}</strong>
      </p>
      {one.text.length <= SHOWN ? (
        <p dir="auto">
          <q>{one.text}</q>
        </p>
      ) : (
        <details>
          <summary>{l.wholeText(one.title)}</summary>
          <p class="whole-text" dir="auto" tabIndex={0}>
            {one.text}
          </p>
        </details>
      )}
      {!target && <p>{l.noSpace}</p>}
      <div class="buttons">
        {possible.length > 1 && (
          <>
            <label for={`${id}-space`}>{l.inSpace}</label>
            <select
              id={`${id}-space`}
              value={target}
              onChange={(event) => setChosen(event.currentTarget.value)}
            >
              {possible.map((space) => (
                <option key={space.id} value={space.id}>
                  {space.name}
                </option>
              ))}
            </select>
          </>
        )}
        <button
          type="button"
          class="primary"
          aria-describedby={id}
          disabled={!target || isBusy || !isOnline.value}
          onClick={() => void save()}
        >
          {l.saveAsNew}
        </button>
        <button
          type="button"
          aria-describedby={id}
          onClick={() => void done(() => saveAsFile(one), l.textSaved)}
        >
          {l.saveAsFile}
        </button>
        <button type="button" aria-describedby={id} onClick={() => setAsking(true)}>
          {l.giveUp}
        </button>
      </div>
      {isAsking && (
        <Ask
          question={l.giveUpAsk(one.title, filesWith(one).length)}
          yes={l.giveUp}
          act={() => void done(() => giveUp(one), l.givenUp)}
          close={() => setAsking(false)}
        />
      )}
    </li>
  );
}

/** The texts of the user who is signed in; the next person at this browser may not see them. */
function Texts() {
  const found = texts.value.filter((one) => one.user === userId());
  if (!found.length) return null;
  const l = lostWords.value;
  return (
    <section class="refused doubts lost" aria-labelledby="lost-texts">
      <p id="lost-texts" role="status">
        {found.every((one) => one.isDamaged) ? l.damagedTexts(found.length) : l.texts(found.length)}
      </p>
      <ul>
        {found.map((one) => (
          <Row key={one.client} one={one} />
        ))}
      </ul>
    </section>
  );
}

/** What a failover or somebody's change has left for its person to decide about. */
export function Lost() {
  return (
    <>
      <Texts />
      <Files />
      <Requests />
    </>
  );
}
