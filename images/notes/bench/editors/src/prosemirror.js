// Plain ProseMirror with Yjs, as y-prosemirror's documentation joins them.
import { baseKeymap } from "prosemirror-commands";
import { inputRules, textblockTypeInputRule, wrappingInputRule } from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import { Schema } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem } from "prosemirror-schema-list";
import { EditorState } from "prosemirror-state";
import { goToNextCell, tableEditing, tableNodes } from "prosemirror-tables";
import { EditorView } from "prosemirror-view";
import {
  initProseMirrorDoc,
  prosemirrorJSONToYDoc,
  redo,
  undo,
  yCursorPlugin,
  ySyncPlugin,
  yUndoPlugin,
} from "y-prosemirror";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { page } from "./page.js";

const NAME = "prosemirror";
const tables = tableNodes({ tableGroup: "block", cellContent: "block+", cellAttributes: {} });
const schema = new Schema({
  nodes: {
    doc: { content: "block+" },
    paragraph: { group: "block", content: "inline*", parseDOM: [{ tag: "p" }], toDOM: () => ["p", 0] },
    heading: {
      group: "block",
      content: "inline*",
      defining: true,
      attrs: { level: { default: 1 } },
      parseDOM: [1, 2, 3].map((level) => ({ tag: `h${level}`, attrs: { level } })),
      toDOM: (node) => [`h${node.attrs.level}`, 0],
    },
    blockquote: { group: "block", content: "block+", defining: true, parseDOM: [{ tag: "blockquote" }], toDOM: () => ["blockquote", 0] },
    codeBlock: {
      group: "block",
      content: "text*",
      marks: "",
      code: true,
      defining: true,
      attrs: { language: { default: null } },
      parseDOM: [{ tag: "pre", preserveWhitespace: "full" }],
      toDOM: () => ["pre", ["code", 0]],
    },
    bulletList: { group: "block", content: "listItem+", parseDOM: [{ tag: "ul" }], toDOM: () => ["ul", 0] },
    listItem: { content: "paragraph block*", defining: true, parseDOM: [{ tag: "li" }], toDOM: () => ["li", 0] },
    taskList: { group: "block", content: "taskItem+", toDOM: () => ["ul", { class: "tasks" }, 0] },
    taskItem: {
      content: "paragraph block*",
      defining: true,
      attrs: { checked: { default: false } },
      toDOM: (node) => ["li", { "data-checked": node.attrs.checked }, 0],
    },
    table: { ...tables.table, content: "tableRow+" },
    tableRow: { ...tables.table_row, content: "(tableCell | tableHeader)*" },
    tableCell: tables.table_cell,
    tableHeader: tables.table_header,
    text: { group: "inline" },
  },
  marks: {
    bold: { parseDOM: [{ tag: "strong" }], toDOM: () => ["strong", 0] },
    italic: { parseDOM: [{ tag: "em" }], toDOM: () => ["em", 0] },
    code: { parseDOM: [{ tag: "code" }], toDOM: () => ["code", 0] },
    link: { attrs: { href: {} }, inclusive: false, toDOM: (mark) => ["a", { href: mark.attrs.href }, 0] },
  },
});
const { nodes } = schema;

function open(update, place) {
  const ydoc = new Y.Doc();
  Y.applyUpdate(ydoc, update);
  const type = ydoc.getXmlFragment(NAME);
  const { doc, mapping } = initProseMirrorDoc(type, schema);
  const plugins = [
    ySyncPlugin(type, { mapping }),
    yCursorPlugin(new Awareness(ydoc)),
    yUndoPlugin(),
    inputRules({
      rules: [
        textblockTypeInputRule(/^(#{1,3})\s$/, nodes.heading, (found) => ({ level: found[1].length })),
        wrappingInputRule(/^\s*([-+*])\s$/, nodes.bulletList),
        wrappingInputRule(/^\s*>\s$/, nodes.blockquote),
      ],
    }),
    keymap({
      "Mod-z": undo,
      "Mod-y": redo,
      Enter: splitListItem(nodes.listItem),
      Tab: goToNextCell(1),
      "Mod-[": liftListItem(nodes.listItem),
      "Mod-]": sinkListItem(nodes.listItem),
    }),
    keymap(baseKeymap),
    tableEditing(),
  ];
  new EditorView(place, { state: EditorState.create({ doc, schema, plugins }) });
}

page({
  make: (doc) => Y.encodeStateAsUpdate(prosemirrorJSONToYDoc(schema, doc, NAME)),
  open,
});
