/** The list of files that wait for pages which do not take them: each is saved on the device, or deleted. */
import { useId, useState } from "preact/hooks";
import { editing } from "../../app/editing";
import { userId } from "../../app/store";
import { words } from "../../app/words";
import { Ask, done, sizeOf } from "../around/parts";
import { files, type LostFile, removeFiles, saveFile } from "./files";
import { lostWords } from "./words";

function Row({ one }: { one: LostFile }) {
  const l = lostWords.value;
  const id = useId();
  const [isAsking, setAsking] = useState(false);
  return (
    <li data-lost-file={one.id}>
      <p id={id} dir="auto">
        <small>{one.reason}</small>
        <strong>{one.name}</strong> {sizeOf(one.size)}
      </p>
      <div class="buttons">
        <button
          type="button"
          class="primary"
          aria-describedby={id}
          onClick={() => void done(() => saveFile(one), l.fileSaved(one.name))}
        >
          {words.value.saveFile}
        </button>
        <button type="button" aria-describedby={id} onClick={() => setAsking(true)}>
          {l.deleteFile}
        </button>
      </div>
      {isAsking && (
        <Ask
          question={l.deleteFileAsk(one.name)}
          yes={l.deleteFile}
          act={() => void done(() => removeFiles([one]), l.fileDeleted)}
          close={() => setAsking(false)}
        />
      )}
    </li>
  );
}

/** The files of the user who is signed in; those of the page that is being edited are in its text. */
export function Files() {
  const found = files.value.filter((one) => one.user === userId() && one.page !== editing.value);
  if (!found.length) return null;
  return (
    <section class="refused doubts lost" aria-labelledby="lost-files">
      <p id="lost-files" role="status">
        {lostWords.value.files(found.length)}
      </p>
      <ul>
        {found.map((one) => (
          <Row key={one.id} one={one} />
        ))}
      </ul>
    </section>
  );
}
