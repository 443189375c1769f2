/** The API tokens of an account. A secret is in this screen's memory alone, until it is left. */
import { useState } from "preact/hooks";
import { mayAdminister, me, notice } from "../../app/store";
import { when } from "../../app/words";
import { Secret } from "./secret";
import { adminWords, Ask, Field, Form, send, State, textOf, useLoaded } from "./tools";

interface Token {
  id: string;
  name: string;
  scopes: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

const DAY_MS = 86_400_000;
const LIFETIMES = [30, 90, 365, 0];

function NewToken({ made }: { made: (secret: string) => Promise<void> }) {
  const w = adminWords();
  const create = async (fields: FormData): Promise<void> => {
    const days = Number(textOf(fields, "days"));
    const scopes = ["read", ...["write", "admin"].filter((one) => fields.has(one))];
    const answer = await send<{ secret: string }>("POST", "/api/v1/tokens", {
      name: textOf(fields, "name"),
      scopes,
      expires_at: days ? new Date(Date.now() + days * DAY_MS).toISOString() : null,
    });
    await made(answer.secret);
  };
  return (
    <Form title={w.createToken} act={create}>
      <Field name="name" label={w.tokenName} hint={w.tokenNameHint} />
      <label class="field">
        {w.tokenEnds}
        <select name="days">
          {LIFETIMES.map((days) => (
            <option key={days} value={days} selected={days === 90}>
              {w.inDays(days)}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        <input type="checkbox" name="write" />
        <span>{w.mayChange}</span>
      </label>
      {mayAdminister.value && (
        <label class="check">
          <input type="checkbox" name="admin" />
          <span>{w.mayAdminister}</span>
        </label>
      )}
    </Form>
  );
}

function Row({ token, ended }: { token: Token; ended: () => Promise<void> }) {
  const w = adminWords();
  const [isAsking, setAsking] = useState(false);
  const end = async (): Promise<void> => {
    await send("DELETE", `/api/v1/tokens/${token.id}`);
    notice.value = w.tokenEnded(token.name);
    document.getElementById("account-tokens")?.focus();
    await ended();
  };
  const ends = token.expires_at
    ? w.ends(new Date(token.expires_at).getTime() > Date.now(), token.expires_at)
    : w.neverEnds;
  return (
    <li>
      <div class="line-item">
        <div class="grow">
          <strong dir="auto">{token.name}</strong>
          <small>
            {token.last_used_at ? w.lastUsed(when(token.last_used_at)) : w.neverUsed}
            {" · "}
            {ends}
          </small>
        </div>
        {token.scopes.map((scope) => (
          <span key={scope} class="chip">
            {w.scopes[scope] ?? scope}
          </span>
        ))}
        <button type="button" aria-label={w.endToken(token.name)} onClick={() => setAsking(true)}>
          {w.end}
        </button>
      </div>
      {isAsking && (
        <Ask
          question={w.endTokenAsk(token.name)}
          title={w.end}
          act={end}
          cancel={() => setAsking(false)}
        />
      )}
    </li>
  );
}

export function Tokens() {
  const w = adminWords();
  const tokens = useLoaded<Token[]>("/api/v1/tokens");
  const [secret, setSecret] = useState("");
  const made = async (shown: string): Promise<void> => {
    setSecret(shown);
    await tokens.again();
  };
  return (
    <section aria-labelledby="account-tokens">
      <h2 id="account-tokens" tabIndex={-1}>
        {w.tokens}
      </h2>
      <p class="faint">{w.tokensText(me.value?.name ?? "")}</p>
      <State of={tokens} />
      {secret && <Secret title={w.secretOnce} secret={secret} done={() => setSecret("")} />}
      {tokens.data && tokens.data.length > 0 && (
        <ul class="rows">
          {tokens.data.map((token) => (
            <Row key={token.id} token={token} ended={tokens.again} />
          ))}
        </ul>
      )}
      <details class="add">
        <summary>{w.newToken}</summary>
        <NewToken made={made} />
      </details>
    </section>
  );
}
