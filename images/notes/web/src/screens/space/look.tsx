/** The look of a space's site: logo, accent colour, navigation, language, and search engines. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../api/client";
import { sendFile } from "../../api/send_file";
import { EndedError, isCurrent } from "../../api/signed_in";
import { notice } from "../../app/store";
import { words } from "../../app/words";
import { Form, reason, send, State, textOf, useLoaded } from "../admin/tools";
import { LanguageOfSite } from "./look_language";
import { manage } from "./words";

interface Link {
  label: string;
  url: string;
}

interface Look {
  version: number;
  accent: string | null;
  shown: { light: string; dark: string } | null;
  links: Link[];
  is_indexed: boolean;
  logo: { url: string; type: string; size: number } | null;
  language: string | null;
  languages: string[];
}

const MOST_LINKS = 8;
const MOST_BYTES = 256 * 1024;
const FIRST_COLOUR = "#0b57a4";
const KINDS = "image/png,image/jpeg,image/gif,image/webp,image/avif,image/svg+xml";

interface PartProps {
  path: string;
  look: Look;
  set: (look: Look) => void;
}

function Logo({ path, look, set }: PartProps) {
  const w = manage.value;
  const field = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState("");
  const act = async (work: () => Promise<Look>, text: string): Promise<void> => {
    setProblem("");
    const isSame = isCurrent();
    try {
      const now = await work();
      if (!isSame()) return;
      set(now);
      notice.value = text;
    } catch (error) {
      if (!(error instanceof EndedError)) setProblem(reason(error));
    }
    if (field.current) field.current.value = "";
  };
  const sendLogo = (file: File | undefined): void => {
    if (!file) return;
    if (file.size > MOST_BYTES) {
      setProblem(w.logoTooLarge);
      return;
    }
    const signal = new AbortController().signal;
    const headers = { "content-type": "application/octet-stream" };
    const sent = { method: "PUT", body: file, headers, signal, sent: () => undefined };
    void act(() => sendFile<Look>(`${path}/logo`, sent), w.logoSaved);
  };
  const remove = async (): Promise<void> => {
    await act(() => send<Look>("DELETE", `${path}/logo`), w.logoRemoved);
    field.current?.focus();
  };
  return (
    <div class="logo">
      {look.logo && <img src={look.logo.url} alt={w.logoAlt} />}
      <label class="field">
        {look.logo ? w.logoOther : w.logo}
        <input
          ref={field}
          type="file"
          accept={KINDS}
          onChange={(event) => sendLogo(event.currentTarget.files?.[0])}
        />
        <small>{w.logoHint}</small>
      </label>
      {look.logo && (
        <button type="button" onClick={() => void remove()}>
          {w.logoRemove}
        </button>
      )}
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** A word in a colour on a ground, as the site shows it. */
function Sample({ text, ink, ground }: { text: string; ink: string; ground: string }) {
  const shown = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (!shown.current) return;
    shown.current.style.color = ink;
    shown.current.style.background = ground;
  }, [ink, ground]);
  return (
    <span ref={shown} class="sample">
      {text} {ink}
    </span>
  );
}

function Colours({ look }: { look: Look }) {
  const w = manage.value;
  const [isOwn, setOwn] = useState(look.accent !== null);
  const isKept = look.shown?.light === look.accent && look.shown?.dark === look.accent;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          name="coloured"
          checked={isOwn}
          onChange={(event) => setOwn(event.currentTarget.checked)}
        />
        <span>
          {w.ownColour}
          <small>{w.ownColourText}</small>
        </span>
      </label>
      {isOwn && (
        <label class="field">
          {w.accent}
          <input type="color" name="accent" defaultValue={look.accent ?? FIRST_COLOUR} />
        </label>
      )}
      {isOwn && look.shown && (
        <div class="samples">
          <Sample text={w.onLight} ink={look.shown.light} ground="#ffffff" />
          <Sample text={w.onDark} ink={look.shown.dark} ground="#16181c" />
          {!isKept && <p class="faint">{w.colourChanged(look.accent ?? "")}</p>}
        </div>
      )}
    </>
  );
}

interface Row extends Link {
  key: number;
}

function Links({ rows, set }: { rows: Row[]; set: (rows: Row[]) => void }) {
  const w = manage.value;
  const list = useRef<HTMLFieldSetElement>(null);
  const next = Math.max(0, ...rows.map((row) => row.key)) + 1;
  const focus = (selector: string): void => {
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(selector)?.focus());
  };
  const typed = (row: Row, part: Partial<Link>): void =>
    set(rows.map((one) => (one === row ? { ...row, ...part } : one)));
  return (
    <fieldset class="boxes links" ref={list}>
      <legend>{w.links}</legend>
      <small class="faint">{w.linksHint}</small>
      {rows.map((row, at) => (
        <div class="pair" key={row.key}>
          <label class="field">
            {w.linkLabel(at + 1)}
            <input
              required
              maxLength={40}
              dir="auto"
              autocomplete="off"
              data-row={row.key}
              value={row.label}
              onInput={(event) => typed(row, { label: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            {w.linkUrl(at + 1)}
            <input
              required
              maxLength={500}
              dir="ltr"
              inputMode="url"
              autocapitalize="none"
              autocomplete="off"
              spellcheck={false}
              value={row.url}
              onInput={(event) => typed(row, { url: event.currentTarget.value })}
            />
          </label>
          <button
            type="button"
            aria-label={w.linkRemove(row.label || String(at + 1))}
            onClick={() => {
              set(rows.filter((one) => one !== row));
              focus("button.add-link");
            }}
          >
            {words.value.remove}
          </button>
        </div>
      ))}
      <button
        type="button"
        class="add-link"
        aria-disabled={rows.length >= MOST_LINKS}
        onClick={() => {
          if (rows.length >= MOST_LINKS) return;
          set([...rows, { key: next, label: "", url: "" }]);
          focus(`[data-row="${next}"]`);
        }}
      >
        {w.linkAdd}
      </button>
    </fieldset>
  );
}

function Rest({ path, look, set, begin }: PartProps & { begin: (look: Look) => void }) {
  const w = manage.value;
  const [rows, setRows] = useState<Row[]>(look.links.map((link, key) => ({ key, ...link })));
  const [base, setBase] = useState(look.version);
  const [theirs, setTheirs] = useState<Look>();
  const save = async (fields: FormData): Promise<void> => {
    setTheirs(undefined);
    try {
      const now = await send<Look>("PUT", `${path}/look`, {
        base_version: base,
        accent: fields.has("coloured") ? textOf(fields, "accent") : null,
        links: rows.map(({ label, url }) => ({ label, url })),
        is_indexed: fields.has("indexed"),
        language: textOf(fields, "language") || null,
      });
      set(now);
      setBase(now.version);
      notice.value = w.saved;
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && error.current) {
        const current = error.current as Look;
        setTheirs(current);
        setBase(current.version);
        throw new ApiError(409, w.lookChanged);
      }
      throw error;
    }
  };
  return (
    <Form title={w.save} act={save} isKept>
      <Colours look={look} />
      <Links rows={rows} set={setRows} />
      <LanguageOfSite chosen={look.language} languages={look.languages} />
      <label class="check">
        <input type="checkbox" name="indexed" defaultChecked={look.is_indexed} />
        <span>
          {w.indexed}
          <small>{w.indexedText}</small>
        </span>
      </label>
      {theirs && (
        <button type="button" onClick={() => begin(theirs)}>
          {w.showTheirs}
        </button>
      )}
    </Form>
  );
}

/** The part of a space's settings with the look of its site. */
export function LookOfSite({ space }: { space: string }) {
  const w = manage.value;
  const path = `/api/v1/spaces/${space}`;
  const loaded = useLoaded<Look>(`${path}/look`);
  const [newer, setNewer] = useState<Look>();
  const [turn, setTurn] = useState(0);
  const look = newer ?? loaded.data;
  return (
    <section aria-labelledby="space-look">
      <h2 id="space-look">{w.look}</h2>
      <p class="faint">{w.lookText}</p>
      {!look && <State of={loaded} />}
      {look && (
        <>
          <Logo path={path} look={look} set={setNewer} />
          <Rest
            key={turn}
            path={path}
            look={look}
            set={setNewer}
            begin={(theirs) => {
              setNewer(theirs);
              setTurn(turn + 1);
            }}
          />
        </>
      )}
    </section>
  );
}
