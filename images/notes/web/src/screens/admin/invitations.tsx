/** Invitations: a button, the form, the link that is shown once, and those that nobody has accepted. */
import { useState } from "preact/hooks";
import { notice } from "../../app/store";
import { type Invitation, Invite, type NewInvitation } from "./invite";
import { Secret } from "./secret";
import { adminWords, Ask, send, State, useLoaded } from "./tools";

const toButton = (): void => document.getElementById("invite")?.focus();

interface RowProps {
  invitation: Invitation;
  revoked: () => Promise<void>;
}

function Row({ invitation, revoked }: RowProps) {
  const w = adminWords();
  const { email, expires_at } = invitation;
  const [isAsking, setAsking] = useState(false);
  const isLater = new Date(expires_at).getTime() > Date.now();
  const revoke = async (): Promise<void> => {
    await send("DELETE", `/api/v1/invitations/${invitation.id}`);
    notice.value = w.invitationRevoked(email);
    toButton();
    await revoked();
  };
  const back = (): void => {
    setAsking(false);
    document.querySelector<HTMLElement>(`[data-invitation="${invitation.id}"] button`)?.focus();
  };
  return (
    <li data-invitation={invitation.id}>
      <div class="line-item">
        <div class="grow">
          <strong>{email}</strong>
          {invitation.name && <small dir="auto">{invitation.name}</small>}
          <small>
            {w.invitedBy(invitation.made_by_name)}
            {" · "}
            {w.ends(isLater, expires_at)}
          </small>
        </div>
        {invitation.is_admin && <span class="chip">{w.administrator}</span>}
        {!invitation.holds && <span class="chip off">{w.holdsNot}</span>}
        <button
          type="button"
          aria-label={w.revokeInvitation(email)}
          onClick={() => setAsking(true)}
        >
          {w.revoke}
        </button>
      </div>
      {isAsking && (
        <Ask question={w.revokeAsk(email)} title={w.revoke} act={revoke} cancel={back} />
      )}
    </li>
  );
}

export function Invitations() {
  const w = adminWords();
  const all = useLoaded<Invitation[]>("/api/v1/invitations");
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<NewInvitation>();
  const open = (all.data ?? []).filter((one) => one.accepted_at === null);
  const close = (): void => {
    setOpen(false);
    toButton();
  };
  const show = async (invitation: NewInvitation): Promise<void> => {
    setOpen(false);
    setMade(invitation);
    await all.again();
  };
  const revoked = async (id: string): Promise<void> => {
    if (made?.id === id) setMade(undefined);
    await all.again();
  };
  const putAway = (): void => {
    setMade(undefined);
    toButton();
  };
  return (
    <>
      <button
        type="button"
        id="invite"
        class="primary"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {w.invite}
      </button>
      {isOpen && <Invite made={show} cancel={close} />}
      {made && <Secret title={w.invitationOnce(made.email)} secret={made.url} done={putAway} />}
      <State of={all} />
      {open.length > 0 && (
        <section aria-labelledby="open-invitations">
          <h3 id="open-invitations">{w.openInvitations}</h3>
          <ul class="rows">
            {open.map((one) => (
              <Row key={one.id} invitation={one} revoked={() => revoked(one.id)} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
