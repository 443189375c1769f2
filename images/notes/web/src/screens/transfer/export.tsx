/** The export of a page, of a page with those below it, or of a space. */
import { useEffect, useRef, useState } from "preact/hooks";
import { UnreachableError } from "../../api/client";
import { EndedError } from "../../api/signed_in";
import { pagePath, spacePath } from "../../app/routes";
import { opened, openPage, spaces } from "../../app/store";
import { size, words } from "../../app/words";
import { Message } from "../message";
import { Skeleton } from "../page";
import { download } from "./download";
import { Bar, Screened } from "./parts";
import { ready, transfer } from "./words";

export { ready };

type Form = "zip" | "markdown";

interface Target {
  id: string;
  from: "page" | "space";
}

export function Screen({ id, from }: Target) {
  const t = transfer.value;
  useEffect(() => {
    if (from === "page") void openPage(id);
  }, [id, from]);
  const space = spaces.value.find((one) => one.id === id);
  const page = opened.value?.id === id ? opened.value : undefined;
  const title = from === "space" ? space?.name : page?.node?.title;
  if (title === undefined && from === "page" && !page?.problem) return <Skeleton />;
  if (title === undefined)
    return <Message title={words.value.notFound} text={words.value.notFoundText} />;
  return (
    <Screened title={t.exportOf(title)}>
      <p class="lead">{t.exportText}</p>
      <Choice key={id} id={id} from={from} title={title} />
    </Screened>
  );
}

function Choice({ id, from, title }: Target & { title: string }) {
  const t = transfer.value;
  const [form, setForm] = useState<Form>("zip");
  const [has, setHas] = useState({ comments: false, history: false });
  const [bytes, setBytes] = useState<number>();
  const [told, setTold] = useState({ problem: "", done: "" });
  const stopping = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => stopping.current?.abort(), []);
  const isBusy = bytes !== undefined;
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const stop = new AbortController();
    stopping.current = stop;
    setTold({ problem: "", done: "" });
    setBytes(0);
    const what = from === "space" ? `spaces/${id}` : `nodes/${id}`;
    const path =
      form === "markdown"
        ? `/api/v1/${what}/markdown`
        : `/api/v1/${what}/export?comments=${has.comments}&history=${has.history}`;
    const name = `${title.replace(/[/\\:*?"<>|]/g, "-")}.${form === "zip" ? "zip" : "md"}`;
    try {
      const all = await download(path, name, stop.signal, setBytes);
      setTold({ problem: "", done: t.exported(size(all)) });
    } catch (error) {
      if (error instanceof EndedError) return;
      const isBroken = error instanceof TypeError || error instanceof UnreachableError;
      const text = isBroken ? t.exportBroken : (error as Error).message;
      setTold({ problem: stop.signal.aborted ? t.exportStopped : text, done: "" });
    }
    setBytes(undefined);
  };
  const option = (value: Form, label: string, hint: string) => (
    <label class="check">
      <input
        type="radio"
        name="form"
        value={value}
        checked={form === value}
        onChange={() => setForm(value)}
      />
      <span>
        {label}
        <small>{hint}</small>
      </span>
    </label>
  );
  const extra = (name: "comments" | "history", label: string) => (
    <label class="check">
      <input
        type="checkbox"
        name={name}
        checked={has[name]}
        disabled={form !== "zip"}
        onChange={(event) => setHas({ ...has, [name]: event.currentTarget.checked })}
      />
      <span>{label}</span>
    </label>
  );
  return (
    <form onSubmit={(event) => void start(event)}>
      {from === "page" && (
        <fieldset class="card modes">
          <legend>{t.exportForm}</legend>
          {option("zip", t.withBelow, t.withBelowText)}
          {option("markdown", t.onlyMarkdown, t.onlyMarkdownText)}
        </fieldset>
      )}
      <fieldset class="card modes">
        <legend>{t.exportMore}</legend>
        {extra("comments", t.exportComments)}
        {extra("history", t.exportHistory)}
      </fieldset>
      {isBusy && (
        <Bar
          label={t.exporting}
          value={undefined}
          most={1}
          text={t.exportingBytes(size(bytes ?? 0))}
        />
      )}
      {told.problem && (
        <p class="refused" role="alert">
          {told.problem}
        </p>
      )}
      <p role="status">{told.done}</p>
      <div class="buttons">
        <a class="button" href={from === "space" ? spacePath(id) : pagePath(id)}>
          {words.value.cancel}
        </a>
        {isBusy ? (
          <button type="button" onClick={() => stopping.current?.abort()}>
            {t.stop}
          </button>
        ) : (
          <button type="submit" class="primary">
            {t.exportNow}
          </button>
        )}
      </div>
    </form>
  );
}
