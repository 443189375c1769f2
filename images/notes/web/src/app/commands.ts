/** Every command of the workspace, with its key. The palette lists all; `?` lists those with keys. */
import { signal } from "@preact/signals";
import { mayWrite, type PageNode } from "../api/types";
import { openPanel } from "./comments";
import { editing } from "./editing";
import type { IconName } from "./icons";
import { nextRegion, toggleSidebar } from "./layout";
import { prefer } from "./preferences";
import { go, route } from "./router";
import {
  adminPath,
  auditPath,
  exportPath,
  filesPath,
  historyPath,
  importPath,
  managePath,
  pageOf,
  sharePath,
  trashPath,
  TOLD_PATH,
} from "./routes";
import { currentSpace, mayAdminister, mayMakeSpace, notice, opened, toggleWatch } from "./store";
import { toggleFavourite } from "./star";
import { words } from "./words";
import type { Words } from "../words/en";

export interface Command {
  id: string;
  title: string;
  icon: IconName;
  /** A single letter, or a combination such as "Mod+k"; `Mod` is Ctrl, on a Mac Cmd. */
  key?: string;
  isPossible?: () => boolean;
  run: () => void;
}

export type Act = keyof Words["acts"];

export type DialogName =
  | ""
  | "palette"
  | "keys"
  | "sign out"
  | "new page"
  | "new space"
  | "permissions"
  | "move";
/** The dialog that is open. */
export const dialog = signal<DialogName>("");
/** The page below which a new page is made; null: at the top of the space. */
export const newPageBelow = signal<string | null>(null);
export const page = () => (route.value.screen === "page" ? opened.value?.node : undefined);
const mayEdit = (): boolean => {
  const node = page();
  return node !== undefined && !node.trashed_at && mayWrite(node.role);
};
/** True if the user may change the permissions of a page. */
export const mayManage = (node: PageNode | undefined): boolean =>
  node?.role === "manager" && !node.trashed_at;
/** The page that the screen is about: the page itself, or what is around it. */
export const pageInView = () => {
  const id = pageOf(route.value);
  return id && opened.value?.id === id ? opened.value.node : undefined;
};
export const mayCreate = (): boolean => {
  const space = currentSpace.value;
  return space !== undefined && mayWrite(space.role);
};

/** True if the space of the sidebar can be managed here. */
export const mayManageSpace = (): boolean =>
  mayMakeSpace.value && currentSpace.value?.role === "manager";

export function startNewPage(below: string | null): void {
  newPageBelow.value = below;
  dialog.value = "new page";
}

/** Opens the editor of the page that is shown. */
export function startEditing(): void {
  if (mayEdit()) editing.value = page()?.id ?? "";
}

/** Opens the comments beside the page that is shown: at the selection of its text, if there is one. */
export function openComments(): void {
  const node = page();
  if (node && !node.trashed_at) openPanel(node.id);
}

/** Leaves the workspace for a plain page. */
export const leaveFor = (path: string): void => location.assign(path);

export async function copyLink(): Promise<void> {
  const node = page();
  if (!node) return;
  await navigator.clipboard.writeText(`${location.origin}/p/${node.id}`);
  notice.value = words.value.linkCopied;
}

/** Copies the text of the page that is shown, as Markdown. */
export async function copyMarkdown(): Promise<void> {
  const answer = await fetch(`/api/v1/nodes/${page()?.id}/markdown`).catch(() => undefined);
  if (answer?.ok) await navigator.clipboard.writeText(await answer.text());
  notice.value = answer?.ok ? words.value.markdownCopied : words.value.notReached;
}

/** Moves the page that is shown to the trash, and opens the trash of its space: it can be taken back. */
export async function moveToTrash(): Promise<void> {
  const node = page();
  const part = node && (await import("../screens/beside/tree_acts").catch(() => undefined));
  if (part) await part.trashPage(node);
  else if (node) notice.value = words.value.notReached;
}

/** Opens the export of the page that is shown, or of the space. */
export function startExport(): void {
  const node = page();
  go(node ? exportPath("page", node.id) : exportPath("space", currentSpace.value?.id ?? ""));
}

/** What is done to the text at the caret, and its key there. */
const ACTS: [act: Act, key: string][] = [
  ["moveUp", "Alt+↑"],
  ["moveDown", "Alt+↓"],
  ["indent", "Tab"],
  ["outdent", "Shift+Tab"],
  ["underline", "Mod+u"],
  ["highlight", "Mod+Shift+h"],
  ["subscript", "Mod+,"],
  ["superscript", "Mod+."],
  ["version", "Mod+s"],
];

export function commands(): Command[] {
  const w = words.value;
  const isPage = (): boolean => page() !== undefined;
  return [
    {
      id: "palette",
      title: w.searchHint,
      icon: "search",
      key: "Mod+k",
      run: () => show("palette"),
    },
    { id: "search", title: w.search, icon: "search", key: "/", run: () => show("palette") },
    { id: "home", title: w.goHome, icon: "home", key: "h", run: () => go("/w") },
    {
      id: "edit",
      title: w.edit,
      icon: "edit",
      key: "e",
      isPossible: mayEdit,
      run: startEditing,
    },
    {
      id: "favourite",
      title: page()?.is_favourite ? w.removeFavourite : w.addFavourite,
      icon: "star",
      key: "f",
      isPossible: isPage,
      run: () => void toggleFavourite(),
    },
    {
      id: "new",
      title: w.newPage,
      icon: "plus",
      key: "n",
      isPossible: mayCreate,
      run: () => startNewPage(null),
    },
    {
      id: "new below",
      title: w.newPageHere,
      icon: "plus",
      isPossible: mayEdit,
      run: () => startNewPage(page()?.id ?? null),
    },
    {
      id: "comments",
      title: w.comments,
      icon: "comment",
      key: editing.value ? "Mod+Alt+m" : "c",
      isPossible: isPage,
      run: openComments,
    },
    { id: "copy", title: w.copyLink, icon: "link", isPossible: isPage, run: () => void copyLink() },
    {
      id: "copy markdown",
      title: w.copyMarkdown,
      icon: "link",
      isPossible: isPage,
      run: () => void copyMarkdown(),
    },
    {
      id: "history",
      title: w.history,
      icon: "clock",
      isPossible: isPage,
      run: () => go(historyPath(page()?.id ?? "")),
    },
    {
      id: "files",
      title: w.filesOfPage,
      icon: "page",
      isPossible: isPage,
      run: () => go(filesPath(page()?.id ?? "")),
    },
    {
      id: "audit",
      title: w.auditOfPage,
      icon: "clock",
      isPossible: () => isPage() && mayAdminister.value,
      run: () => go(auditPath(page()?.id ?? "")),
    },
    {
      id: "share",
      title: w.share,
      icon: "link",
      isPossible: mayEdit,
      run: () => go(sharePath(page()?.id ?? "")),
    },
    {
      id: "trash page",
      title: w.toTrash,
      icon: "trash",
      isPossible: mayEdit,
      run: () => void moveToTrash(),
    },
    {
      id: "trash",
      title: w.trash,
      icon: "trash",
      isPossible: mayCreate,
      run: () => go(trashPath(currentSpace.value?.id ?? "")),
    },
    {
      id: "import",
      title: w.importPages,
      icon: "plus",
      isPossible: mayCreate,
      run: () => go(importPath(currentSpace.value?.id ?? "")),
    },
    {
      id: "footnote",
      title: w.footnote,
      icon: "edit",
      key: "Mod+Alt+f",
      isPossible: () => !!editing.value,
      run: () => document.querySelector(".ProseMirror")?.dispatchEvent(new Event("footnote")),
    },
    ...ACTS.map(
      ([act, key]): Command => ({
        ...{ id: act, title: w.acts[act], icon: "edit", key },
        isPossible: () => !!editing.value,
        run: () =>
          document
            .querySelector(".ProseMirror")
            ?.dispatchEvent(new CustomEvent("act", { detail: act })),
      }),
    ),
    {
      id: "export",
      title: w.exportPage,
      icon: "page",
      isPossible: () => currentSpace.value !== undefined,
      run: startExport,
    },
    {
      id: "watch",
      title: page()?.is_watched ? w.unwatch : w.watch,
      icon: "bell",
      isPossible: isPage,
      run: () => void toggleWatch(),
    },
    { id: "notifications", title: w.notifications, icon: "bell", run: () => go(TOLD_PATH) },
    { id: "jobs", title: w.jobs, icon: "clock", run: () => go("/w/jobs") },
    {
      id: "move",
      title: w.move,
      icon: "page",
      key: "m",
      isPossible: mayEdit,
      run: () => show("move"),
    },
    {
      id: "permissions",
      title: w.permissions,
      icon: "lock",
      isPossible: () => mayManage(page()),
      run: () => show("permissions"),
    },
    {
      id: "new space",
      title: w.newSpace,
      icon: "plus",
      isPossible: () => mayMakeSpace.value,
      run: () => show("new space"),
    },
    {
      id: "manage space",
      title: w.spaceSettings,
      icon: "settings",
      isPossible: mayManageSpace,
      run: () => go(managePath(currentSpace.value?.id ?? "")),
    },
    { id: "print", title: w.print, icon: "page", isPossible: isPage, run: () => print() },
    { id: "sidebar", title: w.toggleSidebar, icon: "sidebar", key: "[", run: toggleSidebar },
    {
      id: "light",
      title: `${w.theme}: ${w.themeLight}`,
      icon: "settings",
      run: () => prefer({ theme: "light" }),
    },
    {
      id: "dark",
      title: `${w.theme}: ${w.themeDark}`,
      icon: "settings",
      run: () => prefer({ theme: "dark" }),
    },
    {
      id: "system",
      title: `${w.theme}: ${w.themeSystem}`,
      icon: "settings",
      run: () => prefer({ theme: "system" }),
    },
    { id: "settings", title: w.settings, icon: "settings", run: () => go("/w/settings") },
    { id: "account", title: w.yourAccount, icon: "lock", run: () => go("/w/account") },
    {
      id: "admin",
      title: w.administration,
      icon: "settings",
      isPossible: () => mayAdminister.value,
      run: () => go(adminPath("people")),
    },
    { id: "keys", title: w.showKeys, icon: "command", key: "?", run: () => show("keys") },
    { id: "region", title: w.region, icon: "command", key: "F6", run: () => nextRegion(1) },
    { id: "out", title: w.signOut, icon: "close", run: () => show("sign out") },
  ];
}

export function show(name: DialogName): void {
  dialog.value = name;
}

/** The commands that can be run now. */
export const possible = (): Command[] => commands().filter((one) => one.isPossible?.() ?? true);
