/** The administration: its parts beside each other, each with an address of its own. */
import { useLayoutEffect } from "preact/hooks";
import { arrive } from "../../app/router";
import { ADMIN_PARTS, type AdminPart, adminPath } from "../../app/routes";
import { words } from "../../app/words";
import { ready as spaceReady } from "../space/words";
import { AuditLog } from "./audit";
import { Domains } from "./domains";
import { Groups } from "./groups";
import { Limits } from "./limits";
import { FirstSteps } from "./next_steps";
import { People } from "./people";
import { SignOn } from "./sign_on";
import { adminReady, adminWords } from "./tools";

export const ready = async (): Promise<void> => {
  await Promise.all([spaceReady(), adminReady()]);
};

const DRAWN = {
  people: People,
  groups: Groups,
  limits: Limits,
  domains: Domains,
  "sign-on": SignOn,
  audit: AuditLog,
  "first-steps": FirstSteps,
};

export function Administration({ part }: { part: AdminPart }) {
  const w = adminWords();
  const title = words.value.administration;
  const Part = DRAWN[part];
  useLayoutEffect(() => {
    document.title = `${w.parts[part]} · ${title}`;
    arrive();
  }, [part, title]);
  return (
    <div class="settings managed">
      <h1 id="title" tabIndex={-1}>
        {title}
      </h1>
      <nav class="tabs" aria-label={title}>
        {ADMIN_PARTS.map((one) => (
          <a
            key={one}
            href={adminPath(one)}
            {...(one === part ? { "aria-current": "page" as const } : {})}
          >
            {w.parts[one]}
          </a>
        ))}
      </nav>
      <Part />
    </div>
  );
}
