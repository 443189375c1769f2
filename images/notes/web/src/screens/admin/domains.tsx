/** The domains that spaces have claimed: approve one, or withdraw its approval. */
import { useEffect, useState } from "preact/hooks";
import { EndedError } from "../../api/signed_in";
import { managePath } from "../../app/routes";
import { notice, spaces } from "../../app/store";
import { manage } from "../space/words";
import { adminWords, Ask, reason, send, State, useLoaded } from "./tools";

interface Claimed {
  space_id: string;
  space_name: string;
  domain: string;
  approved: boolean;
  site_enabled: boolean;
  claimed_by_name: string | null;
}

function Row({ claimed, again }: { claimed: Claimed; again: () => Promise<void> }) {
  const w = manage.value;
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState("");
  const { domain, space_name: space } = claimed;
  const path = `/api/v1/spaces/${claimed.space_id}/domain/approval`;
  const approve = async (): Promise<void> => {
    setProblem("");
    try {
      await send("PUT", path, { domain });
      notice.value = w.domainApproved(domain);
      await again();
    } catch (error) {
      if (!(error instanceof EndedError)) setProblem(reason(error));
    }
  };
  const withdraw = async (): Promise<void> => {
    await send("DELETE", path);
    notice.value = w.domainWithdrawn(domain);
    setAsking(false);
    document.getElementById("admin-part")?.focus();
    await again();
  };
  return (
    <li data-domain={domain}>
      <div class="line-item">
        <div class="grow">
          <strong>{domain}</strong>
          <small>
            <a href={managePath(claimed.space_id)} dir="auto">
              {w.claimedBy(space, claimed.claimed_by_name)}
            </a>
          </small>
        </div>
        {!claimed.site_enabled && <span class="chip off">{w.siteOff}</span>}
        <span class={`chip${claimed.approved ? "" : " off"}`}>
          {claimed.approved ? w.approved : w.waits}
        </span>
        {claimed.approved ? (
          <button
            type="button"
            aria-label={w.withdrawDomain(domain, space)}
            onClick={() => setAsking(true)}
          >
            {w.withdraw}
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            aria-label={w.approveDomain(domain, space)}
            onClick={() => void approve()}
          >
            {w.approve}
          </button>
        )}
      </div>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      {isAsking && (
        <Ask
          question={w.withdrawAsk(domain)}
          title={w.withdraw}
          act={withdraw}
          cancel={() => setAsking(false)}
        />
      )}
    </li>
  );
}

export function Domains() {
  const w = manage.value;
  const domains = useLoaded<Claimed[]>("/api/v1/domains");
  // The list of spaces is read again when somebody claims a domain.
  useEffect(() => {
    if (domains.data) void domains.again();
  }, [spaces.value]);
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part" tabIndex={-1}>
        {adminWords().parts.domains}
      </h2>
      <p class="faint">{w.domainsText}</p>
      <State of={domains} />
      {domains.data && !domains.data.length && <p class="faint">{w.noDomains}</p>}
      <ul class="rows">
        {(domains.data ?? []).map((one) => (
          <Row key={one.space_id} claimed={one} again={domains.again} />
        ))}
      </ul>
    </section>
  );
}
