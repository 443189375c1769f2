import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { appended, bestPages } from "../../src/editor/best_pages";
import { type Entry, Offer, type Seek } from "../../src/editor/offer";
import { nodeFrom } from "../../src/editor/schema";
import type { Doc } from "../../src/doc/types";

const page = (id: string, title: string) => ({ id, title, space_id: "s" });
const PAGES = [page("1", "Übersicht"), page("2", "Plan"), page("3", "Der Plan"), page("4", " ")];

test("pages are found by their titles, without the page itself and those without a title", () => {
  const found = (typed: string, here = "0"): string =>
    bestPages(PAGES, here, typed)
      .map((one) => one.id)
      .join("");
  assert.equal(found("uber"), "1");
  assert.equal(found("plan"), "23");
  assert.equal(found("plan", "2"), "3");
  assert.equal(found(""), "123");
  assert.equal(found("nothing"), "");
});

test("what is found later stands below what is shown", () => {
  const [a, b, c] = ["a", "b", "c"].map((id) => ({ id }));
  assert.deepEqual(appended([a, b] as { id: string }[], [c, a] as { id: string }[]), [a, b, c]);
});

/** A list behind `@`, with the state of an empty page, and what is typed into it. */
function listed(find?: (typed: string) => Entry[]) {
  const offer = new Offer<Entry>({
    sign: "@",
    list: "list",
    isTyped: (text) => !text.includes(" "),
    ...(find ? { find: (_state: EditorState, typed: string) => find(typed) } : {}),
    take: (tr, from, to, one) => void tr.insertText(one.name, from, to),
  });
  const sought: [string, (found: Entry[]) => void][] = [];
  const seek: Seek<Entry> = (typed, show) => void sought.push([typed, show]);
  const plugin = offer.plugin(find ? undefined : seek);
  const doc = nodeFrom({ type: "doc", content: [{ type: "paragraph" }] } as Doc);
  const view = {
    state: EditorState.create({ doc, plugins: [plugin] }),
    isDestroyed: false,
    dispatch(tr: Transaction) {
      const before = view.state;
      view.state = before.apply(tr);
      (plugin.spec.view as (v: unknown) => { update: (v: unknown, s: EditorState) => void })(
        view,
      ).update(view, before);
    },
    focus: () => undefined,
  };
  const write = (text: string): void => {
    for (const sign of text) {
      const { from, to } = view.state.selection;
      const isTaken = plugin.props.handleTextInput?.call(
        plugin,
        view as never,
        from,
        to,
        sign,
        () => view.state.tr,
      );
      if (!isTaken) view.dispatch(view.state.tr.insertText(sign));
    }
  };
  const press = (key: string): unknown =>
    plugin.props.handleKeyDown?.call(plugin, view as never, { key } as KeyboardEvent);
  const names = (): string[] => offer.of(view.state)?.found.map((one) => one.name) ?? [];
  return { offer, view, write, press, names, sought };
}

const ann = { id: "1", name: "Ann" };
const bob = { id: "2", name: "Bob" };

test("a list offers what it knows, and is closed by a space and by Escape", () => {
  const { write, press, names, view, offer } = listed((typed) =>
    [ann, bob].filter((one) => one.name.startsWith(typed)),
  );
  write("a@b ");
  assert.equal(offer.of(view.state), undefined);
  write("@");
  assert.deepEqual(names(), ["Ann", "Bob"]);
  press("ArrowDown");
  assert.equal(offer.of(view.state)?.chosen, 1);
  write("A");
  assert.deepEqual([names(), offer.of(view.state)?.chosen], [["Ann"], 0]);
  press("Enter");
  assert.equal(view.state.doc.textContent, "a@b Ann");
  write(" @");
  press("Escape");
  assert.equal(offer.of(view.state), undefined);
  write("@ ");
  assert.equal(offer.of(view.state), undefined);
});

test("what is found late is offered only for what is typed then, and a choice stays", () => {
  const { write, press, names, view, offer, sought } = listed();
  write("@A");
  const [[, late], [typed, show]] = sought as [[string, (typeof sought)[0][1]], (typeof sought)[0]];
  assert.equal(typed, "A");
  assert.equal(press("Enter"), false);
  late([bob]);
  assert.deepEqual(names(), []);
  show([ann]);
  show([ann, bob]);
  press("ArrowDown");
  show([ann, bob, { id: "3", name: "Cleo" }]);
  assert.equal(offer.of(view.state)?.chosen, 1);
  press("Tab");
  assert.equal(view.state.doc.textContent, "Bob");
});

test("a list is closed when the caret leaves it", () => {
  const { write, view, offer } = listed(() => [ann]);
  write("x @");
  assert.ok(offer.of(view.state));
  view.dispatch(view.state.tr.setSelection(TextSelection.create(view.state.doc, 1)));
  assert.equal(offer.of(view.state), undefined);
});
