// TipTap in React with its extension for Yjs, as TipTap's documentation joins them.
import { getSchema } from "@tiptap/core";
import { Collaboration } from "@tiptap/extension-collaboration";
import { TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import { EditorContent, useEditor } from "@tiptap/react";
import { StarterKit } from "@tiptap/starter-kit";
import { prosemirrorJSONToYDoc } from "@tiptap/y-tiptap";
import { createRoot } from "react-dom/client";
import * as Y from "yjs";
import { page } from "./page.js";

// The name of the fragment that the extension reads unless told otherwise.
const NAME = "default";
const EXTENSIONS = [
  StarterKit.configure({ undoRedo: false }),
  TaskList,
  TaskItem.configure({ nested: true }),
  TableKit,
];

function Editor({ ydoc }) {
  const editor = useEditor({
    extensions: [...EXTENSIONS, Collaboration.configure({ document: ydoc })],
  });
  return <EditorContent editor={editor} />;
}

page({
  make: (doc) => Y.encodeStateAsUpdate(prosemirrorJSONToYDoc(getSchema(EXTENSIONS), doc, NAME)),
  open: (update, place) => {
    const ydoc = new Y.Doc();
    Y.applyUpdate(ydoc, update);
    createRoot(place).render(<Editor ydoc={ydoc} />);
  },
});
