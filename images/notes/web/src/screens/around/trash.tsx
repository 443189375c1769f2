/** The trash of a space: pages to restore, or to delete for ever. */
import { useState } from "preact/hooks";
import { request } from "../../api/client";
import { spacePath } from "../../app/routes";
import { spaces } from "../../app/store";
import { when } from "../../app/words";
import { Ask, done, Frame, useAnswer } from "./parts";
import { around, ready } from "./words";

export { ready };

interface Trashed {
  id: string;
  title: string;
  trashed_at: string;
}

export function Screen({ id }: { id: string }) {
  const a = around.value;
  const space = spaces.value.find((one) => one.id === id);
  const trash = useAnswer<Trashed[]>(`/api/v1/spaces/${id}/trash`);
  const [asked, setAsked] = useState<Trashed>();
  const act = async (method: string, path: string, text: string): Promise<void> => {
    if (await done(() => request(method, path), text)) trash.again();
    document.getElementById("title")?.focus({ preventScroll: true });
  };
  const found = trash.answer ?? [];
  return (
    <Frame title={a.trashOf(space?.name ?? "")} answer={trash} back={spacePath(id)}>
      <p class="lead">{a.trashText}</p>
      {!found.length && <p class="faint">{a.trashEmpty}</p>}
      <ul class="card-list">
        {found.map((one) => (
          <li key={one.id} class="card line" data-trashed={one.id}>
            <div>
              <strong dir="auto">{one.title}</strong>
              <small class="faint">{a.trashedWhen(when(one.trashed_at))}</small>
            </div>
            <div class="acts">
              <button
                type="button"
                aria-label={a.putBackOf(one.title)}
                onClick={() =>
                  void act("POST", `/api/v1/nodes/${one.id}/restore`, a.putBackDone(one.title))
                }
              >
                {a.putBack}
              </button>
              <button
                type="button"
                aria-label={a.deleteForeverOf(one.title)}
                onClick={() => setAsked(one)}
              >
                {a.deleteForever}
              </button>
            </div>
          </li>
        ))}
      </ul>
      {asked && (
        <Ask
          question={a.deleteAsk(asked.title)}
          yes={a.deleteForever}
          act={() =>
            void act(
              "DELETE",
              `/api/v1/nodes/${asked.id}?forever=true`,
              a.deletedForever(asked.title),
            )
          }
          close={() => setAsked(undefined)}
        />
      )}
    </Frame>
  );
}
