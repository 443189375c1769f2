/** Says who has changed a page since its reader was last there, and marks what is new in its text. */
import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/client";
import type { PageNode } from "../../api/types";
import { historyPath } from "../../app/routes";
import { userId } from "../../app/store";
import type { Doc } from "../../doc/types";
import { keepValue, value } from "../../sync/database";
import { textOfPage } from "../beside/marks";
import { reading } from "./words";

/** A page that is seen so long is read. */
const READ_MS = 3000;
const AT_ONCE = 100;

interface Revision {
  version: number;
  author_id: string | null;
  author_name: string | null;
}
interface Since {
  /** The version that was read, or the one before it that is kept. */
  old: number;
  names: string[];
  doc: Doc;
}

const nameOf = (page: string): string => `read ${page}`;

/** What others have changed since a version; undefined if nothing, or if none as old is kept. */
async function changedSince(node: PageNode, read: number): Promise<Since | undefined> {
  const path = `/api/v1/nodes/${node.id}/revisions`;
  const all = await get<Revision[]>(`${path}?limit=${AT_ONCE}`);
  const old = all.find((one) => one.version <= read)?.version;
  const newer = all.filter((one) => one.version > read && one.author_id !== userId());
  if (!old || !newer.length) return undefined;
  const { doc } = await get<{ doc: Doc }>(`${path}/${old}`);
  const names = newer.map((one) => one.author_name).filter((one) => one !== null);
  return { old, doc, names: [...new Set(names)] };
}

/** Marks the blocks that the older text does not have. */
function mark(node: PageNode, old: Doc): void {
  const root = textOfPage();
  if (!root) return;
  const known = new Set(old.content.map((block) => JSON.stringify(block)));
  const blocks = node.doc.content.filter((block) => block.type !== "footnote");
  for (const [at, block] of blocks.entries())
    root.children[at]?.toggleAttribute("data-new", !known.has(JSON.stringify(block)));
}

interface Props {
  node: PageNode;
  /** True for a stored copy: the server's answer may be newer. */
  isStored: boolean;
}

export function ChangedSince({ node, isStored }: Props) {
  const [since, setSince] = useState<Since>();
  const [first, setFirst] = useState<number>();
  // What was read before this visit; what comes while one reads is seen as it comes.
  useEffect(() => {
    if (isStored) return undefined;
    let isGone = false;
    void value<number>(nameOf(node.id), userId()).then((read) => {
      if (isGone) return;
      setFirst(read ?? 0);
      if (!read || read >= node.version) return;
      changedSince(node, read).then(
        (found) => isGone || setSince(found),
        () => undefined,
      );
    });
    return () => {
      isGone = true;
    };
  }, [node.id, isStored]);
  useEffect(() => {
    if (first === undefined) return undefined;
    const timer = setTimeout(() => {
      if (document.visibilityState === "visible")
        void keepValue(nameOf(node.id), userId(), node.version);
    }, READ_MS);
    return () => clearTimeout(timer);
  }, [node.id, node.version, first]);
  useEffect(() => {
    if (!since) return undefined;
    mark(node, since.doc);
    return () => {
      for (const one of document.querySelectorAll("#main [data-new]"))
        one.removeAttribute("data-new");
    };
  }, [since, node.doc]);
  if (!since || since.old >= node.version) return null;
  return (
    <a class="chip since" href={historyPath(node.id, node.version, since.old)}>
      {reading.value.since(since.names)}
    </a>
  );
}
