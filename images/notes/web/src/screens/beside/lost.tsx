/**
 * The list of what could not be sent: what a failover has lost, and pages that were made without a network. Its
 * person does it again, or gives it up.
 */
import { pagePath } from "../../app/routes";
import { userId } from "../../app/store";
import { keptFile } from "../../sync/kept_files";
import type { KeptRequest } from "../../sync/stored";
import { done } from "../around/parts";
import { LostPage } from "./lost_page";
import { partsOf } from "./mentions";
import { giveUp, insist, insistWith, lost } from "./requests";
import { beside } from "./words";

/** What it was, in words. */
function nameOf({ kind, parent, resolved }: KeptRequest): string {
  const b = beside.value;
  if (kind === "file") return b.yourFile;
  if (kind === "page") return b.yourPage;
  if (kind === "post") return parent ? b.yourReply : b.yourComment;
  if (kind === "resolve") return resolved ? b.yourResolving : b.yourReopening;
  return kind === "edit" ? b.yourChange : b.yourDeletion;
}

/** Does it again; a file that is not kept here is chosen again first. */
async function act(one: KeptRequest): Promise<void> {
  const text = beside.value.doneAgain;
  const isThere = one.kind !== "file" || (await keptFile({ id: one.key, user: one.user }));
  if (isThere) {
    await done(() => insist(one), text);
    return;
  }
  const field = document.createElement("input");
  field.type = "file";
  field.addEventListener("change", () => {
    const file = field.files?.[0];
    if (file) void done(() => insistWith(one, file), text);
  });
  field.click();
}

export function Lost() {
  const b = beside.value;
  // The next person at this browser may not see them.
  const found = lost.value.filter((one) => one.user === userId());
  if (!found.length) return null;
  return (
    <section class="refused doubts lost" aria-labelledby="lost">
      <p id="lost" role="status">
        {b.notDone(found.length)}
      </p>
      <ul>
        {found.map((one) => (
          <li key={one.key} data-lost={one.key}>
            <p id={`lost-${one.key}`} dir="auto">
              <small>
                {nameOf(one)} · <a href={pagePath(one.page)}>{one.node?.title ?? one.title}</a>
              </small>
              {one.body && <q>{partsOf(one.body).map((part) => part.text)}</q>}
            </p>
            <p dir="auto">
              <small>{one.doubt}</small>
            </p>
            {one.kind === "page" ? (
              <LostPage one={one} named={`lost-${one.key}`} />
            ) : (
              <div class="buttons">
                <button
                  type="button"
                  aria-describedby={`lost-${one.key}`}
                  onClick={() => void act(one)}
                >
                  {b.doAgain}
                </button>
                <button
                  type="button"
                  aria-describedby={`lost-${one.key}`}
                  onClick={() => void giveUp(one)}
                >
                  {b.giveUp}
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
