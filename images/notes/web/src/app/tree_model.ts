/** The page tree as rows. Decides from the nodes and the open pages alone. */
import type { TreeNode } from "../api/types";

export interface Tree {
  nodes: TreeNode[];
  byId: Map<string, TreeNode>;
  below: Map<string | null, TreeNode[]>;
  /** As the server has the nodes, where changes are shown that are on their way there. */
  served?: TreeNode[];
}

export interface Row {
  node: TreeNode;
  level: number;
  position: number;
  siblings: number;
  hasChildren: boolean;
  isOpen: boolean;
}

/** Indexes the nodes, which are in the order of their siblings. */
export function makeTree(nodes: TreeNode[]): Tree {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const below = new Map<string | null, TreeNode[]>();
  for (const node of nodes) {
    const parent = parentOf(node, byId);
    const list = below.get(parent);
    if (list) list.push(node);
    else below.set(parent, [node]);
  }
  return { nodes, byId, below };
}

/** The parent; null at the top, and for a page whose parent the user may not see. */
function parentOf(node: TreeNode, byId: Map<string, TreeNode>): string | null {
  return node.parent_id !== null && byId.has(node.parent_id) ? node.parent_id : null;
}

/** The rows that are visible while the pages of `open` are expanded. */
export function visibleRows(tree: Tree, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const waiting: { list: TreeNode[]; at: number; level: number }[] = [
    { list: tree.below.get(null) ?? [], at: 0, level: 1 },
  ];
  for (let top = waiting.at(-1); top; top = waiting.at(-1)) {
    const node = top.list[top.at];
    if (!node) {
      waiting.pop();
      continue;
    }
    top.at += 1;
    const children = tree.below.get(node.id);
    const isOpen = children !== undefined && open.has(node.id);
    rows.push({
      node,
      level: top.level,
      position: top.at,
      siblings: top.list.length,
      hasChildren: children !== undefined,
      isOpen,
    });
    if (children && isOpen) waiting.push({ list: children, at: 0, level: top.level + 1 });
  }
  return rows;
}

/** The pages above a page, the topmost first. */
export function above(tree: Tree, id: string): TreeNode[] {
  const found: TreeNode[] = [];
  const seen = new Set<string>([id]);
  let node = tree.byId.get(id);
  while (node) {
    const parent = parentOf(node, tree.byId);
    if (parent === null || seen.has(parent)) break;
    seen.add(parent);
    node = tree.byId.get(parent);
    if (node) found.unshift(node);
  }
  return found;
}

/** The pages before and after a page in reading order. */
export function neighbours(tree: Tree, id: string): [TreeNode | undefined, TreeNode | undefined] {
  const all = visibleRows(tree, new Set(tree.byId.keys()));
  const at = all.findIndex((row) => row.node.id === id);
  return at < 0 ? [undefined, undefined] : [all[at - 1]?.node, all[at + 1]?.node];
}

export interface Window {
  first: number;
  last: number;
}

/** The rows to render: all of a short list, else those near the visible part. */
export function rowWindow(count: number, top: number, height: number, rowHeight: number): Window {
  if (count <= 500) return { first: 0, last: count };
  const first = Math.max(0, Math.floor(top / rowHeight) - 20);
  return { first, last: Math.min(count, Math.ceil((top + height) / rowHeight) + 20) };
}
