/**
 * The page tree as it will be when the server has done what is on its way there. Pure.
 *
 * Invariant: a change that the server's tree has no place for, such as a move below a page that is gone, changes
 * nothing: the server refuses it.
 */
import type { TreeNode } from "../api/types";

export interface Move {
  kind: "move";
  id: string;
  /** The spaces: the page goes with all pages below it. */
  from: string;
  to: string;
  parent: string | null;
  /** The sibling that it comes behind; null: it is the first one. */
  after: string | null;
  /** The page and those below it, as they were: another space does not have them. */
  pages: readonly TreeNode[];
}

export type Change =
  | Move
  | { kind: "make"; space: string; node: TreeNode }
  | { kind: "trash"; space: string; id: string }
  /** With `since` the server has taken the title; a newer page of its tree has it, or a later one. */
  | { kind: "title"; id: string; title: string; since?: string };

/** A page and all below it. */
export function within(nodes: readonly TreeNode[], id: string): Set<string> {
  const below = new Map<string, string[]>();
  for (const { id: one, parent_id: parent } of nodes) {
    if (parent === null) continue;
    const list = below.get(parent);
    if (list) list.push(one);
    else below.set(parent, [one]);
  }
  const found = new Set([id]);
  for (const one of found) for (const child of below.get(one) ?? []) found.add(child);
  return found;
}

/** The nodes of a space's tree after the changes in their order; the same array if they change nothing. */
export function changed(space: string, nodes: TreeNode[], changes: readonly Change[]): TreeNode[] {
  return changes.reduce((before, one) => after(space, before, one), nodes);
}

function after(space: string, nodes: TreeNode[], one: Change): TreeNode[] {
  switch (one.kind) {
    case "move":
      if (space === one.to) return moved(space, nodes, one);
      return space === one.from ? without(nodes, one.id) : nodes;
    case "make":
      return space === one.space ? made(nodes, one.node) : nodes;
    case "trash":
      return space === one.space ? without(nodes, one.id) : nodes;
    case "title":
      return titled(nodes, one);
  }
}

function without(nodes: TreeNode[], id: string): TreeNode[] {
  const ids = within(nodes, id);
  const rest = nodes.filter((node) => !ids.has(node.id));
  return rest.length === nodes.length ? nodes : rest;
}

function made(nodes: TreeNode[], page: TreeNode): TreeNode[] {
  const { id, parent_id: parent } = page;
  if (nodes.some((node) => node.id === id)) return nodes;
  const hasPlace = parent === null || nodes.some((node) => node.id === parent);
  return hasPlace ? [...nodes, page] : nodes;
}

function titled(nodes: TreeNode[], { id, title, since }: Change & { kind: "title" }): TreeNode[] {
  const page = nodes.find((node) => node.id === id);
  const isOver = since !== undefined && page?.updated_at !== since;
  if (!page || isOver || page.title === title) return nodes;
  return nodes.map((node) => (node === page ? { ...page, title } : node));
}

function moved(space: string, nodes: TreeNode[], one: Move): TreeNode[] {
  const known = new Set(nodes.map((node) => node.id));
  const brought = space === one.from ? [] : one.pages.filter((page) => !known.has(page.id));
  const all = [...nodes, ...brought];
  const ids = new Set(all.map((node) => node.id));
  const { id, parent } = one;
  const page = all.find((node) => node.id === id);
  if (!page || (parent !== null && (!ids.has(parent) || within(all, id).has(parent)))) return nodes;
  const rest = all.filter((node) => node !== page);
  const isSibling = ({ parent_id: its }: TreeNode): boolean =>
    (its !== null && ids.has(its) ? its : null) === parent;
  let at = rest.findIndex((node) => isSibling(node) && (one.after ?? node.id) === node.id);
  if (one.after !== null) {
    if (at < 0) return nodes;
    at += 1;
  } else if (at < 0) at = rest.length;
  rest.splice(at, 0, { ...page, parent_id: parent });
  return rest;
}
