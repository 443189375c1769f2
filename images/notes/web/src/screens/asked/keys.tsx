/** The dialog that lists the keys. */
import { commands } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { keyName } from "../../app/keys";
import { prefer, preferences } from "../../app/preferences";
import { words } from "../../app/words";
import { asked, ready } from "./words";

void ready();

export function Screen() {
  const w = words.value;
  const keyed = commands().filter((one) => one.key);
  return (
    <Modal label={w.shortcuts}>
      <Head title={w.shortcuts} />
      <dl class="keys">
        {keyed.map((one) => (
          <div key={one.id}>
            <dt>{one.title}</dt>
            <dd>
              <kbd>{keyName(one.key ?? "")}</kbd>
            </dd>
          </div>
        ))}
        <div>
          <dt>{asked.value.treeKeys}</dt>
          <dd>
            <kbd>↑</kbd> <kbd>↓</kbd> <kbd>→</kbd> <kbd>←</kbd>
          </dd>
        </div>
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={preferences.value.singleKeys}
          onChange={(event) => prefer({ singleKeys: event.currentTarget.checked })}
        />
        <span>
          {w.singleKeys}
          <small>{w.singleKeysText}</small>
        </span>
      </label>
    </Modal>
  );
}
