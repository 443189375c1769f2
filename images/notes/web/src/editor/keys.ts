/** Keys, Markdown shortcuts and the commands of the toolbar. */
import {
  baseKeymap,
  chainCommands,
  exitCode,
  setBlockType,
  toggleMark,
  wrapIn,
} from "prosemirror-commands";
import { redo, undo } from "prosemirror-history";
import {
  InputRule,
  inputRules,
  textblockTypeInputRule,
  undoInputRule,
  wrappingInputRule,
} from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { MarkType, NodeType } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem, wrapInList } from "prosemirror-schema-list";
import type { Command, EditorState, Plugin } from "prosemirror-state";
import { linkTyped } from "./linked";
import { moveBlocks } from "./move";
import { schema } from "./schema";
import { enterCell, nextCell, previousCell } from "./table";

export const node = (name: string): NodeType => schema.nodes[name] as NodeType;
export const mark = (name: string): MarkType => schema.marks[name] as MarkType;
const ITEMS = [node("listItem"), node("taskItem")];
/** A command of lists, for the items of either kind. */
export const anyItem = (make: (type: NodeType) => Command): Command =>
  chainCommands(...ITEMS.map(make));

const hardBreak: Command = (state, dispatch) => {
  const made = node("hardBreak").create();
  dispatch?.(state.tr.replaceSelectionWith(made).scrollIntoView());
  return true;
};

const rule: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if (!$from.node(-1)?.canReplaceWith($from.index(-1), $from.index(-1), node("horizontalRule"))) {
    return false;
  }
  dispatch?.(state.tr.replaceSelectionWith(node("horizontalRule").create()).scrollIntoView());
  return true;
};

const inCode: Command = (state, dispatch) => {
  if (!state.selection.$from.parent.type.spec.code) return false;
  dispatch?.(state.tr.insertText("  ").scrollIntoView());
  return true;
};

/** A list in place of the blocks; taken away again from where it is. */
export const list =
  (name: "bulletList" | "orderedList" | "taskList"): Command =>
  (state, dispatch) => {
    const { $from } = state.selection;
    for (let depth = $from.depth; depth > 0; depth--) {
      if ($from.node(depth).type === node(name)) return anyItem(liftListItem)(state, dispatch);
    }
    return wrapInList(node(name))(state, dispatch);
  };

export const heading =
  (level: number): Command =>
  (state, dispatch) => {
    const { parent } = state.selection.$from;
    const isSame = parent.type === node("heading") && parent.attrs.level === level;
    return isSame
      ? setBlockType(node("paragraph"))(state, dispatch)
      : setBlockType(node("heading"), { level })(state, dispatch);
  };

export const code: Command = (state, dispatch) =>
  setBlockType(
    state.selection.$from.parent.type === node("codeBlock") ? node("paragraph") : node("codeBlock"),
  )(state, dispatch);

export const quote: Command = wrapIn(node("blockquote"));
export const line = rule;
export { redo, undo };

/** Text between signs becomes marked text: `**bold**`. */
const marked = (pattern: RegExp, name: string): InputRule =>
  new InputRule(pattern, (state, match, start, end) => {
    const [whole, text] = [match[0], match[1]];
    if (!text || !state.doc.resolve(start).parent.type.allowsMarkType(mark(name))) return null;
    const before = whole.indexOf(text);
    const sign = whole.slice(0, before).trimStart();
    const from = start + before - sign.length;
    const kept = state.doc.slice(start + before, start + before + text.length);
    const { tr } = state;
    tr.replace(from, end, kept).addMark(from, from + kept.size, mark(name).create());
    return tr.removeStoredMark(mark(name));
  });

const rules = inputRules({
  rules: [
    textblockTypeInputRule(/^(#{1,6})\s$/, node("heading"), (found) => ({
      level: found[1]?.length ?? 1,
    })),
    textblockTypeInputRule(/^```([\w+#.-]{0,40})\s$/, node("codeBlock"), (found) => ({
      language: found[1] || null,
    })),
    wrappingInputRule(/^\s*([-+*])\s$/, node("bulletList")),
    wrappingInputRule(
      /^(\d{1,8})[.)]\s$/,
      node("orderedList"),
      (found) => ({ start: Number(found[1]) }),
      (found, before) => before.childCount + Number(before.attrs.start) === Number(found[1]),
    ),
    wrappingInputRule(/^\s*>\s$/, node("blockquote")),
    new InputRule(/^\[([ xX]?)\]\s$/, (state, found, start, end) => {
      const checked = found[1]?.toLowerCase() === "x";
      const emptied = state.apply(state.tr.delete(start, end));
      const { tr } = state;
      tr.delete(start, end);
      const run: Command = (now, dispatch) => wrapInList(node("taskList"))(now, dispatch);
      let done = false;
      const apply = (command: Command, from: EditorState): EditorState => {
        let next = from;
        done = command(from, (made) => {
          for (const step of made.steps) tr.step(step);
          next = from.apply(made);
        });
        return next;
      };
      const lifted = anyItem(liftListItem)(emptied)
        ? apply(anyItem(liftListItem), emptied)
        : emptied;
      const listed = apply(run, lifted);
      if (!done) return null;
      const { $from } = listed.selection;
      if (checked && $from.node(-1).type === node("taskItem")) {
        tr.setNodeAttribute($from.before(-1), "checked", true);
      }
      return tr;
    }),
    new InputRule(/^---$/, (state, _found, start) => {
      const $start = state.doc.resolve(start);
      const at = $start.before();
      if (
        !$start.node(-1).canReplaceWith($start.index(-1), $start.index(-1), node("horizontalRule"))
      )
        return null;
      // The paragraph stays, and gets the caret.
      return state.tr.delete(start, start + 2).insert(at, node("horizontalRule").create());
    }),
    marked(/(?:^|[^*])\*\*([^*\s](?:[^*]*[^*\s])?)\*\*$/, "bold"),
    marked(/(?:^|[^*])\*([^*\s](?:[^*]*[^*\s])?)\*$/, "italic"),
    marked(/(?:^|[^~])~~([^~\s](?:[^~]*[^~\s])?)~~$/, "strike"),
    marked(/(?:^|[^`])`([^`]+)`$/, "code"),
    new InputRule(/https?:\/\/\S+ $/i, linkTyped),
  ],
});

/** Asks for what the editor does as an answer to an event. */
const tell =
  (name: "footnote" | "keep"): Command =>
  (_state, _dispatch, view) =>
    view?.dom.dispatchEvent(new Event(name)) ?? false;

/** The plugins for keys; `link` is what Ctrl+K does. */
export function keys(link: Command): Plugin[] {
  return [
    rules,
    keymap({
      "Mod-b": toggleMark(mark("bold")),
      "Mod-i": toggleMark(mark("italic")),
      "Mod-u": toggleMark(mark("underline")),
      "Mod-`": toggleMark(mark("code")),
      "Mod-Shift-x": toggleMark(mark("strike")),
      "Mod-Shift-h": toggleMark(mark("highlight")),
      "Mod-,": toggleMark(mark("subscript")),
      "Mod-.": toggleMark(mark("superscript")),
      "Mod-k": link,
      "Mod-s": tell("keep"),
      "Mod-z": undo,
      "Mod-y": redo,
      "Mod-Shift-z": redo,
      "Mod-Enter": chainCommands(exitCode, hardBreak),
      "Shift-Enter": chainCommands(exitCode, hardBreak),
      Backspace: undoInputRule,
      Enter: chainCommands(enterCell, anyItem(splitListItem)),
      Tab: chainCommands(nextCell, anyItem(sinkListItem), inCode),
      "Shift-Tab": chainCommands(previousCell, anyItem(liftListItem)),
      "Alt-ArrowUp": moveBlocks(-1),
      "Alt-ArrowDown": moveBlocks(1),
      "Mod-Alt-f": tell("footnote"),
      "Mod-Alt-0": setBlockType(node("paragraph")),
      "Mod-Alt-1": heading(1),
      "Mod-Alt-2": heading(2),
      "Mod-Alt-3": heading(3),
    }),
    keymap(baseKeymap),
  ];
}
