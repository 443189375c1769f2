/** The files of a page: size, who added them and when; to download, or to delete. */
import { useState } from "preact/hooks";
import { request } from "../../api/client";
import { mayWrite } from "../../api/types";
import { when } from "../../app/words";
import { backTo, Ask, done, Frame, sizeOf, useAnswer, usePage } from "./parts";
import { places } from "./uses";
import { around, ready } from "./words";

export { ready };

interface File {
  id: string;
  name: string;
  size: number;
  created_at: string;
  created_by_name: string | null;
}

const fileUrl = (id: string): string => `/api/v1/attachments/${id}`;

export function Screen({ id }: { id: string }) {
  const a = around.value;
  const node = usePage(id);
  const files = useAnswer<File[]>(`/api/v1/nodes/${id}/attachments`);
  // The text as it is now, with edits that are in no version yet.
  const live = useAnswer<{ doc: unknown }>(`/api/v1/nodes/${id}/live`);
  const [asked, setAsked] = useState<File>();
  const found = files.answer ?? [];
  const inText = (file: File): number | undefined =>
    live.answer && places(live.answer.doc, file.id);
  const ask = (file: File): void => {
    live.again();
    setAsked(file);
  };
  const remove = async (file: File): Promise<void> => {
    const isDone = await done(() => request("DELETE", fileUrl(file.id)), a.fileDeleted(file.name));
    if (isDone) files.again();
    document.getElementById("title")?.focus({ preventScroll: true });
  };
  return (
    <Frame title={node && a.filesOf(node.title)} answer={files} back={backTo(id)}>
      <p class="lead">{node && mayWrite(node.role) ? a.filesText : a.filesReadText}</p>
      {!found.length && <p class="faint">{a.noFiles}</p>}
      {found.length > 0 && (
        <p class="faint" role="status">
          {a.filesIn(found.length, sizeOf(found.reduce((sum, one) => sum + one.size, 0)))}
        </p>
      )}
      <ul class="card-list">
        {found.map((one) => {
          const count = inText(one);
          return (
            <li key={one.id} class="card line" data-file={one.id}>
              <div>
                <strong>
                  <a href={fileUrl(one.id)} target="_blank" rel="noopener" dir="auto">
                    {one.name}
                  </a>
                </strong>
                <small class="faint">
                  {sizeOf(one.size)}
                  {" · "}
                  <time dateTime={one.created_at} title={new Date(one.created_at).toLocaleString()}>
                    {a.addedWhen(when(one.created_at))}
                  </time>{" "}
                  {one.created_by_name && <span dir="auto">{a.by(one.created_by_name)}</span>}
                  {count !== undefined && ` · ${a.inText(count)}`}
                </small>
              </div>
              <div class="acts">
                <a
                  class="button"
                  href={`${fileUrl(one.id)}?download=true`}
                  download={one.name}
                  target="_self"
                  aria-label={a.downloadOf(one.name)}
                >
                  {a.download}
                </a>
                {node && mayWrite(node.role) && (
                  <button
                    type="button"
                    aria-label={a.deleteFileOf(one.name)}
                    onClick={() => ask(one)}
                  >
                    {a.deleteFile}
                  </button>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {asked && (
        <Ask
          question={a.deleteFileAsk(asked.name, inText(asked))}
          yes={a.deleteForever}
          act={() => void remove(asked)}
          close={() => setAsked(undefined)}
        />
      )}
    </Frame>
  );
}
