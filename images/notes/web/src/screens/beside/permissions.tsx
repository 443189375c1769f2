/** The dialog with the permissions of a page: who has which, where they come from, and a change of them. */
import { useState } from "preact/hooks";
import { request } from "../../api/client";
import type { PageNode, RoleName } from "../../api/types";
import { dialog } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { Icon } from "../../app/icons";
import { me, notice, openPage } from "../../app/store";
import { words } from "../../app/words";
import { useAnswer } from "../around/parts";
import { FindPeople, type Principal } from "./find_people";
import { refusal } from "./refusal";
import { beside, ready } from "./words";

export { ready };

interface NamedGrant {
  principal: string;
  kind: "user" | "group";
  role: RoleName;
  name: string | null;
  email: string | null;
}

interface Access {
  origin: "page" | "above" | "space";
  origin_id: string;
  origin_title: string;
  grants: NamedGrant[];
  managers: NamedGrant[];
  everyone_role: RoleName;
  is_public: boolean;
  links: number;
}

const ROLES = ["viewer", "commenter", "editor", "manager"] as const;

function nameOf(one: NamedGrant): string {
  return one.name ?? beside.value.nobodyAnyMore;
}

/** One who has a role; with `change` as a field to choose it. */
function Row({
  one,
  change,
  remove,
}: {
  one: NamedGrant;
  change?: (role: RoleName) => void;
  remove?: () => void;
}) {
  const b = beside.value;
  const name = nameOf(one);
  return (
    <li class="grant" data-principal={one.principal}>
      <span>
        <strong dir="auto">{name}</strong>
        {(one.kind === "group" || one.email) && (
          <small class="faint" dir="auto">
            {one.kind === "group" ? b.group : one.email}
          </small>
        )}
      </span>
      {change ? (
        <select
          aria-label={b.roleOf(name)}
          value={one.role}
          onChange={(event) => change(event.currentTarget.value as RoleName)}
        >
          {ROLES.map((role) => (
            <option key={role} value={role}>
              {b.roles[role]}
            </option>
          ))}
        </select>
      ) : (
        <span class="faint">{b.roles[one.role as (typeof ROLES)[number]]}</span>
      )}
      {remove && (
        <button
          type="button"
          class="quiet"
          aria-label={b.removeOf(name)}
          title={b.removeOf(name)}
          onClick={remove}
        >
          <Icon name="close" />
        </button>
      )}
    </li>
  );
}

/** Adds people and groups to the list. */
function Add({
  page,
  known,
  add,
}: {
  page: string;
  known: Set<string>;
  add: (one: Principal) => void;
}) {
  const b = beside.value;
  const [typed, setTyped] = useState("");
  return (
    <FindPeople
      path={`/api/v1/nodes/${page}`}
      label={b.addWhom}
      hint={me.value?.is_admin ? b.addHintAll : b.addHint}
      typed={typed}
      type={setTyped}
      known={known}
      pick={(one) => {
        add(one);
        setTyped("");
      }}
      group={b.group}
      nobody={b.foundNobody}
      reason={refusal}
    />
  );
}

/** Where the permissions of the page come from. */
function Origin({ found }: { found: Access }) {
  const b = beside.value;
  const text = {
    page: b.ofPage,
    above: b.ofAbove(found.origin_title),
    space: b.ofSpace(found.origin_title),
  }[found.origin];
  const isOpen = found.origin === "space";
  return (
    <>
      <p>{text}</p>
      {isOpen && found.everyone_role !== "none" && (
        <p class="faint note">{b.everybody(b.roles[found.everyone_role as "viewer"])}</p>
      )}
      {isOpen && found.is_public && <p class="faint note">{b.isPublic}</p>}
    </>
  );
}

export function Screen({ node }: { node: PageNode }) {
  const b = beside.value;
  const path = `/api/v1/nodes/${node.id}/access`;
  const { answer: found, problem, detail } = useAnswer<Access>(path, node);
  return (
    <Modal label={b.permissionsOf(node.title)} kind="roomy">
      <Head title={b.permissionsOf(node.title)} />
      {found ? (
        <Form key={JSON.stringify(found)} node={node} found={found} />
      ) : (
        <p class="faint" role="status">
          {problem === "unreachable"
            ? words.value.notReached
            : problem
              ? (detail ?? words.value.failed)
              : words.value.loading}
        </p>
      )}
    </Modal>
  );
}

function Form({ node, found }: { node: PageNode; found: Access }) {
  const b = beside.value;
  const isOwn = found.origin === "page";
  const [grants, setGrants] = useState<NamedGrant[] | undefined>(isOwn ? found.grants : undefined);
  const [isLeaving, setLeaving] = useState(false);
  const [error, setError] = useState("");
  const save = async (next: readonly NamedGrant[], text: string): Promise<void> => {
    const body = { grants: next.map(({ principal, kind, role }) => ({ principal, kind, role })) };
    try {
      await request("PUT", `/api/v1/nodes/${node.id}/permissions`, { body });
      notice.value = text;
      dialog.value = "";
      void openPage(node.id);
    } catch (failed) {
      setError(refusal(failed));
    }
  };
  const managers = found.managers.map(nameOf);
  const shown = grants ?? found.grants;
  const set = (next: NamedGrant[]): void => {
    setError("");
    setGrants(next);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (grants?.length) void save(grants, b.permissionsSaved);
      }}
    >
      {grants && !isOwn ? <p>{b.willBeOwn}</p> : <Origin found={found} />}
      <ul class="grants" aria-label={b.permissionsOf(node.title)}>
        {shown.map((one) => (
          <Row
            key={one.principal}
            one={one}
            {...(grants && {
              change: (role: RoleName) =>
                set(grants.map((other) => (other === one ? { ...one, role } : other))),
              remove: () => set(grants.filter((other) => other !== one)),
            })}
          />
        ))}
      </ul>
      {!shown.length && <p class="faint note">{b.nobodyYet}</p>}
      {grants && (
        <Add
          page={node.id}
          known={new Set(grants.map((one) => one.principal))}
          add={({ id, kind, name, email }) =>
            set([...grants, { principal: id, kind, name, email, role: "viewer" }])
          }
        />
      )}
      {managers.length > 0 && <p class="faint note">{b.alwaysManage(managers)}</p>}
      {grants && found.links > 0 && <p class="note">{b.linksEnd(found.links)}</p>}
      {isLeaving && <p role="alert">{b.leaveAsk}</p>}
      {error && (
        <p role="alert" class="refused">
          {error}
        </p>
      )}
      <div class="buttons">
        {isOwn && (
          <button
            type="button"
            onClick={() => (isLeaving ? void save([], b.permissionsLeft) : setLeaving(true))}
          >
            {isLeaving ? b.leaveYes : b.leave}
          </button>
        )}
        {grants ? (
          // Each its own element: one that becomes a submit button while it is clicked would send the form.
          <button key="save" type="submit" class="primary" disabled={!grants.length}>
            {b.save}
          </button>
        ) : (
          <button key="own" type="button" class="primary" onClick={() => set(found.grants)}>
            {b.own}
          </button>
        )}
      </div>
    </form>
  );
}
