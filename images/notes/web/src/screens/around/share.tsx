/** The share screen: a page's links; make, copy, change and end one, its QR code and its visits. */
import { useState } from "preact/hooks";
import { request } from "../../api/client";
import { Icon } from "../../app/icons";
import { notice } from "../../app/store";
import { locale, when } from "../../app/words";
import { Ask, backTo, done, Frame, useAnswer, usePage } from "./parts";
import { Visits } from "./visits";
import { around, ready } from "./words";

export { ready };

export interface Share {
  id: string;
  node_id: string;
  url: string;
  include_children: boolean;
  has_password: boolean;
  holds: boolean;
  expires_at: string | null;
  created_at: string;
}

const date = (moment: string): string =>
  new Intl.DateTimeFormat(locale.value, { dateStyle: "medium" }).format(new Date(moment));

/** The end of a day of this time zone; null without one. */
const endOf = (day: string): string | null =>
  day ? new Date(`${day}T23:59:59`).toISOString() : null;

/** The day of a moment in this time zone, as a date field has it. */
function dayOf(moment: string | null): string {
  if (!moment) return "";
  const at = new Date(moment);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

async function copy(url: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(url);
    notice.value = around.value.copied;
  } catch {
    notice.value = around.value.notCopied;
  }
}

interface FormProps {
  /** The link to change; a new one without it. */
  share?: Share;
  send: (body: Record<string, unknown>) => Promise<boolean>;
}

/** The fields of a link: what is included, its password, its end. */
function LinkForm({ share, send }: FormProps) {
  const a = around.value;
  const [isRemoving, setRemoving] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const password = String(given.get("password") ?? "");
    const day = String(given.get("until") ?? "");
    const body: Record<string, unknown> = { include_children: given.has("pages") };
    // The time of day of an end that is not touched stays as it is.
    if (!share || day !== dayOf(share.expires_at)) body.expires_at = endOf(day);
    if (isRemoving) body.password = null;
    else if (password) body.password = password;
    if ((await send(body)) && !share) form.reset();
  };
  return (
    <form class="link-fields" onSubmit={(event) => void submit(event)}>
      <label class="check">
        <input type="checkbox" name="pages" defaultChecked={share?.include_children ?? false} />
        <span>
          {a.withPages}
          <small>{a.withPagesText}</small>
        </span>
      </label>
      <div class="two">
        <label class="field">
          {share ? a.newPassword : a.password}
          <input
            type="password"
            name="password"
            minLength={8}
            maxLength={200}
            autocomplete="new-password"
            disabled={isRemoving}
          />
          <small>{share?.has_password ? a.keepsPassword : a.passwordText}</small>
        </label>
        <label class="field">
          {a.until}
          <input
            type="date"
            name="until"
            min="2000-01-01"
            max="9000-12-31"
            defaultValue={dayOf(share?.expires_at ?? null)}
          />
          <small>{a.untilText}</small>
        </label>
      </div>
      {share?.has_password && (
        <label class="check">
          <input
            type="checkbox"
            checked={isRemoving}
            onChange={(event) => setRemoving(event.currentTarget.checked)}
          />
          <span>{a.noPassword}</span>
        </label>
      )}
      <div class="buttons">
        <button type="submit" class="primary">
          {share ? a.save : a.makeLink}
        </button>
      </div>
    </form>
  );
}

function Code({ share }: { share: Share }) {
  const a = around.value;
  const path = `/api/v1/shares/${share.id}/qr.svg`;
  return (
    <div class="qr">
      <img src={path} alt={a.qrOf(share.url)} width={176} height={176} />
      <a class="button" href={path} download="link.svg">
        {a.saveQr}
      </a>
    </div>
  );
}

type Open = "" | "qr" | "visits" | "change";

function Link({ share, again }: { share: Share; again: () => void }) {
  const a = around.value;
  const [open, setOpen] = useState<Open>("");
  const [isAsking, setAsking] = useState(false);
  const path = `/api/v1/shares/${share.id}`;
  const isEnded = share.expires_at !== null && new Date(share.expires_at).getTime() < Date.now();
  const toggle = (which: Open, text: string) => (
    <button
      type="button"
      aria-expanded={open === which}
      aria-controls={`${which}-${share.id}`}
      onClick={() => setOpen(open === which ? "" : which)}
    >
      {text}
    </button>
  );
  const change = async (body: Record<string, unknown>): Promise<boolean> => {
    const isDone = await done(() => request("PATCH", path, { body }), a.linkChanged);
    if (isDone) {
      setOpen("");
      again();
    }
    return isDone;
  };
  const end = async (): Promise<void> => {
    if (await done(() => request("DELETE", path), a.linkEnded)) again();
  };
  const facts = [
    share.include_children ? a.withPages : a.onlyPage,
    ...(share.has_password ? [a.hasPassword] : []),
    ...(share.expires_at && !isEnded ? [a.endsOn(date(share.expires_at))] : []),
    a.madeOn(when(share.created_at)),
  ];
  return (
    <li class={`card${share.holds ? "" : " is-over"}`} data-share={share.id}>
      <div class="url">
        <a href={share.url} target="_blank" rel="noopener" dir="ltr">
          {share.url}
        </a>
        <button
          type="button"
          class="primary"
          aria-label={a.copyLinkOf(when(share.created_at))}
          onClick={() => void copy(share.url)}
        >
          <Icon name="link" />
          {a.copy}
        </button>
      </div>
      <p class="faint facts">
        {isEnded && <span class="chip">{a.ended}</span>}
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
      {!share.holds && !isEnded && <p class="refused">{a.void}</p>}
      <div class="acts">
        {toggle("visits", a.statistics)}
        {toggle("qr", a.qr)}
        {toggle("change", a.change)}
        <button type="button" onClick={() => setAsking(true)}>
          {a.endLink}
        </button>
      </div>
      <div id={`${open || "none"}-${share.id}`} hidden={!open} class="panel">
        {open === "qr" && <Code share={share} />}
        {open === "visits" && <Visits path={`${path}/statistics`} />}
        {open === "change" && <LinkForm share={share} send={change} />}
      </div>
      {isAsking && (
        <Ask
          question={a.endAsk}
          yes={a.endLink}
          act={() => void end()}
          close={() => setAsking(false)}
        />
      )}
    </li>
  );
}

export function Screen({ id }: { id: string }) {
  const a = around.value;
  const node = usePage(id);
  const path = `/api/v1/nodes/${id}/shares`;
  const shares = useAnswer<Share[]>(path);
  const make = async (body: Record<string, unknown>): Promise<boolean> => {
    const isDone = await done(() => request<Share>("POST", path, { body }), a.linkMade);
    if (isDone) shares.again();
    return isDone;
  };
  const found = shares.answer ?? [];
  return (
    <Frame title={node && a.sharing(node.title)} answer={shares} back={backTo(id)}>
      <p class="lead">{a.sharingText}</p>
      <section aria-labelledby="share-links">
        <h2 id="share-links">{a.links}</h2>
        {!found.length && <p class="faint">{a.noLinks}</p>}
        <ul class="card-list">
          {[...found].reverse().map((share) => (
            <Link key={share.id} share={share} again={shares.again} />
          ))}
        </ul>
      </section>
      <section aria-labelledby="share-new">
        <h2 id="share-new">{a.newLink}</h2>
        <LinkForm send={make} />
      </section>
    </Frame>
  );
}
