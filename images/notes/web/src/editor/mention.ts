/**
 * The list of people behind `@`: where it was typed, what is typed after it, who is found, who is chosen.
 *
 * A mention is a link to `mention:<id>`, whose text is the name. Invariant: the list is open only while the
 * caret is behind its `@` in the same block.
 */
import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Person } from "../api/types";
import { findPeople } from "../app/mentionable";
import { signOf } from "../screens/beside/mentions";
import { schema } from "./schema";
import { isStart } from "./slash";

/** The id of the listbox; those of its entries begin with it. */
export const PEOPLE = "mentionable";
const MOST_TYPED = 40;

/** The open list. */
export interface Mention {
  at: number;
  typed: string;
  chosen: number;
  found: Person[];
}

type Change = { open: number } | { chosen: number } | { found: Person[]; typed: string } | "close";

const key = new PluginKey<Mention | undefined>("mention");

export const mentionOf = (state: EditorState): Mention | undefined => key.getState(state);

/** The text between the `@` and the caret; undefined if the caret has left it. */
function typedAfter(state: EditorState, at: number): string | undefined {
  const { $from, empty } = state.selection;
  if (!empty || at < $from.start() || $from.pos <= at || at >= state.doc.content.size) {
    return undefined;
  }
  const text = state.doc.textBetween(at, $from.pos, "\n", "\n");
  const isTyped = /^@(?!\s)[^\n@]*$/.test(text) && text.length <= MOST_TYPED && !/\s\s/.test(text);
  return isTyped ? text.slice(1) : undefined;
}

/** Puts a mention of the person in place of what was typed. */
export function mention(view: EditorView, person: Person): void {
  const open = mentionOf(view.state);
  const link = schema.marks.link;
  if (!open || !link) return;
  const { tr, selection } = view.state;
  const marks = selection.$from.marks().filter((one) => one.type !== link);
  const href = `mention:${person.id}`;
  const name = schema.text(signOf(person.name), link.create({ href }).addToSet(marks));
  tr.replaceWith(open.at, selection.from, [name, schema.text(" ", marks)]);
  view.dispatch(tr.setMeta(key, "close").scrollIntoView());
  view.focus();
}

export const closeMention = (view: EditorView): void => {
  if (mentionOf(view.state)) view.dispatch(view.state.tr.setMeta(key, "close"));
};

export const pointMention = (view: EditorView, chosen: number): void => {
  view.dispatch(view.state.tr.setMeta(key, { chosen }));
};

function onKey(view: EditorView, event: KeyboardEvent): boolean {
  const open = mentionOf(view.state);
  if (!open?.found.length || event.isComposing || event.ctrlKey || event.metaKey) return false;
  const { chosen, found } = open;
  const steps: Record<string, number> = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
  const next = steps[event.key];
  if (next !== undefined && !event.shiftKey && !event.altKey) {
    pointMention(view, (next + found.length) % found.length);
    return true;
  }
  if (event.key === "Escape") {
    closeMention(view);
    return true;
  }
  const isChoice = (event.key === "Enter" || event.key === "Tab") && !event.shiftKey;
  const person = found[chosen];
  if (isChoice && person) mention(view, person);
  return isChoice;
}

/** The plugin for a page; the server finds the people who may read it. */
export const mentions = (page: string): Plugin =>
  new Plugin<Mention | undefined>({
    key,
    state: {
      init: () => undefined,
      apply(tr, before, _old, state) {
        const change = tr.getMeta(key) as Change | undefined;
        if (change === "close") return undefined;
        if (before && change && "chosen" in change) return { ...before, chosen: change.chosen };
        if (change && "found" in change) {
          const isSame = before?.typed === change.typed;
          return before && isSame ? { ...before, found: change.found, chosen: 0 } : before;
        }
        const isNew = change !== undefined && "open" in change;
        const at = isNew ? change.open : before && tr.mapping.map(before.at, 1);
        const typed = at === undefined ? undefined : typedAfter(state, at);
        if (at === undefined || typed === undefined) return undefined;
        // Until the server answers, nobody is offered: Enter would take whom the letters do not mean.
        const found = !isNew && before?.typed === typed ? before.found : [];
        return { at, typed, found, chosen: found.length ? (before?.chosen ?? 0) : 0 };
      },
    },
    view: () => ({
      update(view, before) {
        const [was, now] = [mentionOf(before), mentionOf(view.state)];
        if (!now || (was?.at === now.at && was.typed === now.typed)) return;
        const { typed } = now;
        findPeople(page, typed, (found) => {
          if (!view.isDestroyed && mentionOf(view.state))
            view.dispatch(view.state.tr.setMeta(key, { found, typed }));
        });
      },
    }),
    props: {
      attributes(state) {
        const { found, chosen } = mentionOf(state) ?? { found: [], chosen: 0 };
        const person = found[chosen];
        if (!person) return {};
        return { "aria-controls": PEOPLE, "aria-activedescendant": `${PEOPLE}-${person.id}` };
      },
      handleTextInput(view, from, to, text) {
        if (text !== "@" || !isStart(view.state, from)) return false;
        view.dispatch(view.state.tr.insertText("@", from, to).setMeta(key, { open: from }));
        return true;
      },
      handleKeyDown: onKey,
      handleDOMEvents: {
        blur(view) {
          closeMention(view);
          return false;
        },
      },
    },
  });
