/** The dialog that moves a page: below which page, or to the top of which space, and behind which page. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { mayWrite, type PageNode } from "../../api/types";
import { dialog } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { candidate, match } from "../../app/match";
import { currentSpace, opened, openPage, readTree, spaces, trees } from "../../app/store";
import { within } from "../../app/tree_changes";
import { above, type Tree } from "../../app/tree_model";
import { words } from "../../app/words";
import { type Option, Picker } from "./picker";
import { refusal } from "./refusal";
import { movePage } from "./tree_acts";
import { beside, ready } from "./words";

export { ready };

const TOP = "top";
const MOST_SHOWN = 50;

/** The pages that it can be moved below, each with its path; the best matches of what is typed. */
function useParents(tree: Tree | undefined, id: string, typed: string, space: string): Option[] {
  return useMemo(() => {
    if (!tree) return [];
    // It cannot come below itself.
    const own = within(tree.nodes, id);
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
  const move = (event: SubmitEvent): void => {
    event.preventDefault();
    const place = { space, parent: parent === TOP ? null : parent, after: (after ?? last) || null };
    dialog.value = "";
    void movePage(node.id, node.space_id, place).then(async (isMoved) => {
      if (isMoved && opened.value?.id === node.id) await openPage(node.id);
    });
  };
  return (
    <Modal label={b.moveOf(node.title)} kind="roomy">
      <Head title={b.moveOf(node.title)} />
      <form onSubmit={move}>
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
          <button type="submit" class="primary" disabled={!tree}>
            {b.moveHere}
          </button>
        </div>
      </form>
    </Modal>
  );
}
