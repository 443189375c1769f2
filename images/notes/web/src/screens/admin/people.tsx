/** All people of the installation: add, disable, make administrators, set a password. */
import { useState } from "preact/hooks";
import { Icon } from "../../app/icons";
import { Menu } from "../../app/menu";
import { notice, userId } from "../../app/store";
import { Invitations } from "./invitations";
import { adminWords, Ask, Field, Form, reason, send, State, textOf, useLoaded } from "./tools";

export interface User {
  id: string;
  email: string;
  name: string;
  is_admin: boolean;
  disabled: boolean;
}

type Asked = "" | "rename" | "disable" | "withdraw" | "password";

const MOST_SHOWN = 100;

const holds = (user: User, text: string): boolean =>
  `${user.name} ${user.email}`.toLocaleLowerCase().includes(text.trim().toLocaleLowerCase());

function Add({ added }: { added: () => Promise<void> }) {
  const w = adminWords();
  const add = async (fields: FormData): Promise<void> => {
    const user = await send<User>("POST", "/api/v1/users", {
      name: textOf(fields, "name"),
      email: textOf(fields, "email"),
      password: textOf(fields, "password") || null,
      is_admin: fields.has("is_admin"),
    });
    notice.value = w.personAdded(user.name);
    await added();
  };
  return (
    <details class="add">
      <summary>{w.addPerson}</summary>
      <Form title={w.add} act={add}>
        <Field name="name" label={w.name} />
        <Field name="email" label={w.email} type="email" most={254} />
        <Field
          name="password"
          label={w.firstPassword}
          type="password"
          complete="new-password"
          least={10}
          most={1024}
          isOptional
          hint={w.firstPasswordHint}
        />
        <label class="check">
          <input type="checkbox" name="is_admin" />
          <span>{w.administrator}</span>
        </label>
      </Form>
    </details>
  );
}

function Row({ user, again }: { user: User; again: () => Promise<void> }) {
  const w = adminWords();
  const [asked, setAsked] = useState<Asked>("");
  const [problem, setProblem] = useState("");
  const back = (): void => {
    setAsked("");
    document.querySelector<HTMLElement>(`[data-user="${user.id}"] .menu > button`)?.focus();
  };
  const change = async (fields: object): Promise<void> => {
    setProblem("");
    await send("PATCH", `/api/v1/users/${user.id}`, fields);
    notice.value = w.personChanged(user.name);
    back();
    await again();
  };
  const changeAtOnce = (fields: object): void => {
    change(fields).catch((error: unknown) => setProblem(reason(error)));
  };
  const items = [
    { title: w.rename, run: () => setAsked("rename") },
    { title: w.setPassword, run: () => setAsked("password") },
    user.is_admin
      ? { title: w.withdrawAdministrator, run: () => setAsked("withdraw") }
      : { title: w.makeAdministrator, run: () => changeAtOnce({ is_admin: true }) },
    user.disabled
      ? { title: w.enable, run: () => changeAtOnce({ disabled: false }) }
      : { title: w.disable, run: () => setAsked("disable") },
  ];
  return (
    <li data-user={user.id}>
      <div class="line-item">
        <div class="grow">
          <strong dir="auto">{user.name}</strong>
          <small>{user.email}</small>
        </div>
        {user.is_admin && <span class="chip">{w.administrator}</span>}
        {user.disabled && <span class="chip off">{w.disabled}</span>}
        {user.id === userId() ? (
          <span class="chip">{w.thatIsYou}</span>
        ) : (
          <Menu label={w.actionsFor(user.name)} kind="end" items={items}>
            <Icon name="more" />
          </Menu>
        )}
      </div>
      {problem && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      {asked === "rename" && (
        <Form
          title={w.rename}
          act={(fields) => change({ name: textOf(fields, "name") })}
          cancel={back}
        >
          <Field name="name" label={w.newNameOf(user.name)} value={user.name} hint={w.renameHint} />
        </Form>
      )}
      {asked === "disable" && (
        <Ask
          question={w.disableAsk(user.name)}
          title={w.disable}
          act={() => change({ disabled: true })}
          cancel={back}
        />
      )}
      {asked === "withdraw" && (
        <Ask
          question={w.withdrawAsk(user.name)}
          title={w.withdrawAdministrator}
          act={() => change({ is_admin: false })}
          cancel={back}
        />
      )}
      {asked === "password" && (
        <Form
          title={w.setPassword}
          act={(fields) => change({ password: textOf(fields, "password") })}
          cancel={back}
        >
          <Field
            name="password"
            label={w.newPasswordOf(user.name)}
            type="password"
            complete="new-password"
            least={10}
            most={1024}
            hint={w.setPasswordHint}
          />
        </Form>
      )}
    </li>
  );
}

export function People() {
  const w = adminWords();
  const users = useLoaded<User[]>("/api/v1/users");
  const [text, setText] = useState(new URLSearchParams(location.search).get("find") ?? "");
  const found = (users.data ?? []).filter((user) => holds(user, text));
  return (
    <section aria-labelledby="admin-part">
      <h2 id="admin-part">{w.parts.people}</h2>
      <Invitations />
      <Add added={users.again} />
      <State of={users} />
      {users.data && (
        <>
          <label class="field">
            {w.findPeople}
            <input
              type="search"
              value={text}
              autocomplete="off"
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <p class="faint" role="status">
            {w.people(found.length)}
            {found.length > MOST_SHOWN && ` ${w.firstOnly(MOST_SHOWN)}`}
          </p>
          <ul class="rows">
            {found.slice(0, MOST_SHOWN).map((user) => (
              <Row key={user.id} user={user} again={users.again} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
