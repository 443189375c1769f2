/** A space's site: who may read it, its domain, and what the domain's certificate still needs. */
import { useRef } from "preact/hooks";
import { notice, site } from "../../app/store";
import { Form, send, textOf } from "../admin/tools";
import type { PartProps, WholeSpace } from "./whole_space";
import { manage } from "./words";

type Known = "done" | "missing" | "open";

function Step({ state, text }: { state: Known; text: string }) {
  const w = manage.value;
  const said = { done: w.isDone, missing: w.isMissing, open: w.isOpen }[state];
  return (
    <li>
      <div class="line-item">
        <span class="grow">{text}</span>
        <span class={`chip${state === "missing" ? " off" : ""}`}>{said}</span>
      </div>
    </li>
  );
}

/** What a claimed domain needs before a certificate may be issued for it. */
function Certificate({ space, domain }: { space: WholeSpace; domain: string }) {
  const w = manage.value;
  const isServed = space.domain_approved && space.site_enabled;
  return (
    <div data-served={isServed}>
      <h3>{w.certificate}</h3>
      <p class={isServed ? "" : "faint"}>{isServed ? w.isServed(domain) : w.notServed(domain)}</p>
      <ol class="rows">
        <Step state="open" text={w.dnsStep(domain, location.hostname)} />
        <Step state={space.domain_approved ? "done" : "missing"} text={w.approvalStep} />
        <Step state={space.site_enabled ? "done" : "missing"} text={w.siteStep} />
        <Step state="open" text={w.certificateStep} />
        {site.value?.has_sign_on && (
          <Step state="open" text={w.signOnStep(`https://${domain}/auth/oidc/callback`)} />
        )}
      </ol>
    </div>
  );
}

export function Site({ space, again }: PartProps) {
  const w = manage.value;
  const field = useRef<HTMLInputElement>(null);
  const save = async (fields: FormData): Promise<void> => {
    const now = await send<WholeSpace>("PATCH", `/api/v1/spaces/${space.id}`, {
      public: fields.has("public"),
      domain: textOf(fields, "domain"),
      site_enabled: fields.has("site"),
    });
    // The server has it in small letters, and without a dot at the end.
    if (field.current) field.current.value = now.domain ?? "";
    notice.value = w.saved;
    await again();
  };
  return (
    <section aria-labelledby="space-site">
      <h2 id="space-site">{w.site}</h2>
      <Form title={w.save} act={save} isKept>
        <label class="check">
          <input type="checkbox" name="public" defaultChecked={space.public} />
          <span>
            {w.isPublic}
            <small>{w.isPublicText}</small>
          </span>
        </label>
        <label class="field">
          {w.domain}
          <input
            ref={field}
            name="domain"
            dir="ltr"
            maxLength={253}
            inputMode="url"
            autocapitalize="none"
            autocomplete="off"
            spellcheck={false}
            defaultValue={space.domain ?? ""}
          />
          <small>{w.domainHint}</small>
        </label>
        <label class="check">
          <input type="checkbox" name="site" defaultChecked={space.site_enabled} />
          <span>{w.isSite}</span>
        </label>
      </Form>
      {space.domain && <Certificate space={space} domain={space.domain} />}
    </section>
  );
}
