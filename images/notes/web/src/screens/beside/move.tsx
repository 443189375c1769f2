/** The dialog that moves a page: below which page, or to the top of which space, and behind which page. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { request } from "../../api/client";
import { mayWrite, type PageNode } from "../../api/types";
import { dialog } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { candidate, match } from "../../app/match";
import { currentSpace, notice, openPage, readTree, spaces, trees } from "../../app/store";
import { above, type Tree } from "../../app/tree_model";
import { words } from "../../app/words";
import { type Option, Picker } from "./picker";
import { refusal } from "./refusal";
import { beside, ready } from "./words";

export { ready };

const TOP = "top";
const MOST_SHOWN = 50;

/** The page and all below it: it cannot be moved there. */
function within(tree: Tree, id: string): Set<string> {
  const found = new Set([id]);
  for (const one of found) for (const node of tree.below.get(one) ?? []) found.add(node.id);
  return found;
}

/** The pages that it can be moved below, each with its path; the best matches of what is typed. */
function useParents(tree: Tree | undefined, id: string, typed: string, space: string): Option[] {
  return useMemo(() => {
    if (!tree) return [];
    const own = within(tree, id);
    const nodes = tree.nodes.filter((node) => !own.has(node.id));
    const texts = nodes.map((node) => candidate(node.id, node.title));
    const ids = typed.trim()
      ? match(texts, typed, MOST_SHOWN).map((one) => one.id)
      : nodes.slice(0, MOST_SHOWN).map((node) => node.id);
    const options = ids.map((one): Option => {
      const path = above(tree, one).map((node) => node.title);
      return { id: one, text: tree.byId.get(one)?.title ?? "", detail: path.join(" / ") };
    });
    return typed.trim() ? options : [{ id: TOP, text: beside.value.top(space) }, ...options];
  }, [tree, id, typed, space]);
}

export function Screen({ node }: { node: PageNode }) {
  const b = beside.value;
  const possible = spaces.value.filter((one) => mayWrite(one.role) || one.id === node.space_id);
  const [space, setSpace] = useState(node.space_id);
  const tree = trees.value.get(space);
  const [typed, setTyped] = useState("");
  const known = trees.value.get(node.space_id)?.byId.has(node.parent_id ?? "");
  const [parent, setParent] = useState(node.parent_id && known ? node.parent_id : TOP);
  const [after, setAfter] = useState<string>();
  const [error, setError] = useState("");
  const [isMoving, setMoving] = useState(false);
  useEffect(() => {
    if (!trees.value.has(space)) readTree(space).catch((failed) => setError(refusal(failed)));
  }, [space]);
  const name = possible.find((one) => one.id === space)?.name ?? "";
  const options = useParents(tree, node.id, typed, name);
  const siblings = (tree?.below.get(parent === TOP ? null : parent) ?? []).filter(
    (one) => one.id !== node.id && (one.parent_id ?? TOP) === parent,
  );
  // It stays where it is among its siblings, and comes behind those of another place.
  const all = tree?.below.get(node.parent_id) ?? [];
  const isHere = space === node.space_id && (node.parent_id ?? TOP) === parent;
  const before = isHere ? all[all.findIndex((one) => one.id === node.id) - 1] : siblings.at(-1);
  const last = before?.id ?? "";
  const target = parent === TOP ? b.top(name) : (tree?.byId.get(parent)?.title ?? "");
  const choose = (id: string): void => {
    setParent(id);
    setAfter(undefined);
    setError("");
  };
  const move = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setMoving(true);
    try {
      const body = {
        space_id: space,
        parent_id: parent === TOP ? null : parent,
        after_id: (after ?? last) || null,
      };
      await request("POST", `/api/v1/nodes/${node.id}/move`, { body });
      notice.value = b.moved(node.title, target);
      dialog.value = "";
      await Promise.all([...new Set([space, node.space_id])].map(readTree)).catch(() => undefined);
      await openPage(node.id);
    } catch (failed) {
      setError(refusal(failed));
    }
    setMoving(false);
  };
  return (
    <Modal label={b.moveOf(node.title)} kind="roomy">
      <Head title={b.moveOf(node.title)} />
      <form onSubmit={(event) => void move(event)}>
        {possible.length > 1 && (
          <label class="field">
            {b.space}
            <select
              value={space}
              onChange={(event) => {
                setSpace(event.currentTarget.value);
                setTyped("");
                choose(TOP);
              }}
            >
              {possible.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </select>
          </label>
        )}
        <Picker
          label={b.below}
          isFirst
          typed={typed}
          type={setTyped}
          options={options}
          chosen={parent}
          pick={choose}
          nothing={tree ? b.foundNoPage : words.value.loading}
        />
        <p class="note" role="status">
          {b.target(target)}
        </p>
        <label class="field">
          {b.behind}
          <select value={after ?? last} onChange={(event) => setAfter(event.currentTarget.value)}>
            <option value="">{b.first}</option>
            {siblings.map((one) => (
              <option key={one.id} value={one.id}>
                {b.after(one.title)}
              </option>
            ))}
          </select>
        </label>
        {space !== currentSpace.value?.id && <p class="faint note">{b.otherSpace}</p>}
        {error && (
          <p role="alert" class="refused">
            {error}
          </p>
        )}
        <div class="buttons">
          <button
            type="button"
            onClick={() => {
              dialog.value = "";
            }}
          >
            {words.value.cancel}
          </button>
          <button type="submit" class="primary" disabled={isMoving || !tree}>
            {b.moveHere}
          </button>
        </div>
      </form>
    </Modal>
  );
}
