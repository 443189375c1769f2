// BlockNote with its Mantine view and Yjs, as BlockNote's documentation joins them.
import "@blocknote/mantine/style.css";
import { BlockNoteEditor } from "@blocknote/core";
import { blocksToYDoc, withCollaboration } from "@blocknote/core/yjs";
import { BlockNoteView } from "@blocknote/mantine";
import { useCreateBlockNote } from "@blocknote/react";
import { createRoot } from "react-dom/client";
import { Awareness } from "y-protocols/awareness";
import * as Y from "yjs";
import { page } from "./page.js";

const NAME = "document-store";
const textOf = (node) => node.text ?? (node.content ?? []).map(textOf).join("");

/** The blocks of BlockNote that say the same as a block of the bench's document: an item is a block. */
function blocksOf(node) {
  switch (node.type) {
    case "heading":
      return [{ type: "heading", props: { level: node.attrs.level }, content: textOf(node) }];
    case "bulletList":
      return node.content.map((item) => ({ type: "bulletListItem", content: textOf(item) }));
    case "taskList":
      return node.content.map((item) => ({
        type: "checkListItem",
        props: { checked: item.attrs.checked },
        content: textOf(item),
      }));
    case "codeBlock":
      return [{ type: "codeBlock", props: { language: node.attrs.language }, content: textOf(node) }];
    case "table": {
      const rows = node.content.map((row) => ({ cells: row.content.map(textOf) }));
      return [{ type: "table", content: { type: "tableContent", headerRows: 1, rows } }];
    }
    default:
      return [{ type: "paragraph", content: textOf(node) }];
  }
}

function Editor({ ydoc }) {
  const editor = useCreateBlockNote(
    withCollaboration({
      collaboration: {
        fragment: ydoc.getXmlFragment(NAME),
        user: { name: "Ada", color: "#3366cc" },
        provider: { awareness: new Awareness(ydoc) },
      },
    }),
  );
  return <BlockNoteView editor={editor} theme="light" />;
}

page({
  make: (doc) => {
    const blocks = doc.content.flatMap(blocksOf);
    return Y.encodeStateAsUpdate(blocksToYDoc(BlockNoteEditor.create(), blocks, NAME));
  },
  open: (update, place) => {
    const ydoc = new Y.Doc();
    Y.applyUpdate(ydoc, update);
    createRoot(place).render(<Editor ydoc={ydoc} />);
  },
});
