/** A document as the server stores it: the JSON of a ProseMirror editor in normal form. */

export interface Mark {
  type: string;
  attrs?: { href?: string; title?: string };
}

export interface DocNode {
  type: string;
  attrs?: Record<string, string | number | boolean | null | undefined>;
  content?: DocNode[];
  marks?: Mark[];
  text?: string;
}

export interface Doc extends DocNode {
  type: "doc";
  content: DocNode[];
}
