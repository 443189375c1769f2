/** The dialog that makes a page: empty, from a template, or of what another application has shared. */
import { useState } from "preact/hooks";
import { request, UnreachableError } from "../../api/client";
import { mayWrite, type PageNode } from "../../api/types";
import { change } from "../../app/change_tree";
import { dialog, newPageBelow, page } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { editing } from "../../app/editing";
import { makeHere } from "../../app/made";
import { isWaiting } from "../../app/waiting";
import { makeId } from "../../app/presence";
import { prefer, preferences } from "../../app/preferences";
import { go } from "../../app/router";
import { pagePath } from "../../app/routes";
import { shared } from "../../app/shared";
import { currentSpace, isOnline, notice, spaces, trees, userId } from "../../app/store";
import { words } from "../../app/words";
import { addressFor } from "../../doc/address";
import type { Doc } from "../../doc/types";
import { storedPage } from "../../sync/offline";
import { ownId } from "../../sync/own_id";
import { asked, ready } from "./words";

export { ready };

/** What a page of the space may begin with: its templates, and the page that is shown. */
function useSources(space: string): { id: string; text: string }[] {
  const a = asked.value;
  const shown = page();
  const nodes = trees.value.get(space)?.nodes ?? [];
  const found = nodes
    .filter((node) => node.is_template)
    .map((node) => ({ id: node.id, text: a.template(node.title) }));
  if (shown && !shown.is_template) found.push({ id: shown.id, text: a.copyOf(shown.title) });
  return found;
}

const lines = (text: string): Doc => ({
  type: "doc",
  content: text
    .split(/\n+/)
    .filter(Boolean)
    .map((line) => ({ type: "paragraph", content: [{ type: "text", text: line }] })),
});

/** What a page begins with that is made without a network. Throws if it is not in this browser. */
async function beginning(source: string, text: string): Promise<Doc | null> {
  if (text) return (await import("../../markdown/pasted")).parse(text, addressFor) ?? lines(text);
  if (!source) return null;
  const stored = await storedPage(source, userId());
  if (!stored) throw new Error(asked.value.notStoredHere);
  return stored.node.doc;
}

interface Body {
  title: string;
  key: string;
  parent_id: string | null;
  is_template: boolean;
}

/** Makes a page at the server; the tree shows it meanwhile, where its id can be known before. */
async function makeNow(space: string, body: Body): Promise<PageNode> {
  const make = () => request<PageNode>("POST", `/api/v1/spaces/${space}/nodes`, { body });
  const { title, parent_id, is_template } = body;
  const id = await ownId(userId(), body.key);
  if (!id) return make();
  const node = { id, parent_id, title, is_template, is_restricted: false };
  if (parent_id) prefer({ open: [...new Set([...preferences.value.open, parent_id])] });
  const updated_at = new Date().toISOString();
  return change({ kind: "make", space, node: { ...node, updated_at } }, [space], make);
}

export function Screen() {
  const w = words.value;
  const a = asked.value;
  const below = newPageBelow.value;
  const [given] = useState(shared.value);
  const [error, setError] = useState("");
  const possible = spaces.value.filter((one) => mayWrite(one.role));
  const first = possible.find((one) => one.id === currentSpace.value?.id) ?? possible[0];
  const [chosen, setChosen] = useState("");
  const space = below ? (currentSpace.value?.id ?? "") : chosen || (first?.id ?? "");
  const sources = useSources(space);
  // One for each form: what is asked for twice is made once.
  const [key] = useState(makeId);
  const makeOffline = async (title: string, source: string, text: string, isTemplate: boolean) => {
    const doc = await beginning(source, text);
    const role = spaces.value.find((one) => one.id === space)?.role ?? "editor";
    const place = { space, parent: below, is_template: isTemplate, template: source, doc };
    const id = await makeHere({ ...place, key, role, title: title.replace(/\p{Cc}/gu, " ") });
    if (!id) throw new Error(w.notReached);
    notice.value = a.madeHere;
    return id;
  };
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const [title, source, text] = ["title", "source", "text"].map((name) =>
      String(fields.get(name) ?? ""),
    ) as [string, string, string];
    const isTemplate = fields.has("template");
    const body = {
      ...{ title, key, parent_id: below, is_template: isTemplate },
      ...(source ? { template_id: source } : {}),
      ...(text ? { markdown: text } : {}),
    };
    try {
      let id: string;
      try {
        // A page below one that waits waits with it.
        if (!isOnline.value || (below && isWaiting(below))) throw new UnreachableError(space);
        id = (await makeNow(space, body)).id;
      } catch (failed) {
        if (!(failed instanceof UnreachableError)) throw failed;
        id = await makeOffline(title, source, text, isTemplate);
      }
      dialog.value = "";
      shared.value = undefined;
      go(pagePath(id));
      // What was shared or copied is read first.
      if (!text && !source) editing.value = id;
    } catch (failed) {
      setError(failed instanceof Error && failed.message ? failed.message : w.failed);
    }
  };
  const title = below ? w.newPageHere : w.newPage;
  return (
    <Modal label={title}>
      <Head title={title} />
      {!space && <p role="alert">{a.noSpace}</p>}
      <form onSubmit={(event) => void make(event)}>
        <label class="field">
          {w.title}
          <input
            name="title"
            required
            pattern=".*\S.*"
            maxLength={300}
            autocomplete="off"
            autofocus
            dir="auto"
            defaultValue={given?.title ?? ""}
          />
        </label>
        {given ? (
          <label class="field">
            {a.sharedText}
            <textarea name="text" rows={6} dir="auto" defaultValue={given.text} />
          </label>
        ) : (
          sources.length > 0 && (
            <label class="field">
              {a.from}
              <select name="source">
                <option value="">{a.empty}</option>
                {sources.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.text}
                  </option>
                ))}
              </select>
            </label>
          )
        )}
        {!below && possible.length > 1 && (
          <label class="field">
            {a.inSpace}
            <select value={space} onChange={(event) => setChosen(event.currentTarget.value)}>
              {possible.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        )}
        {!given && (
          <label class="check">
            <input type="checkbox" name="template" />
            <span>
              {a.isTemplate}
              <small>{a.isTemplateText}</small>
            </span>
          </label>
        )}
        {error && <p role="alert">{error}</p>}
        <div class="buttons">
          <button type="submit" class="primary" disabled={!space}>
            {w.create}
          </button>
        </div>
      </form>
    </Modal>
  );
}
