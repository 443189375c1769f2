/** The bar above a page: sidebar button, path, and the page's actions. */

import { useEffect, useState } from "preact/hooks";
import { mayWrite } from "../api/types";
import {
  copyLink,
  dialog,
  leaveFor,
  mayManage,
  moveToTrash,
  openComments,
  show,
  page,
  pageInView,
  startEditing,
  startNewPage,
} from "../app/commands";
import { isDrawerOpen, isNarrow, toggleSidebar } from "../app/layout";
import { closePanel, openThreads, panel } from "../app/comments";
import { editing, saving } from "../app/editing";
import { Icon } from "../app/icons";
import { Menu } from "../app/menu";
import { preferences } from "../app/preferences";
import { people } from "../app/presence";
import { go } from "../app/router";
import {
  auditPath,
  exportPath,
  filesPath,
  historyPath,
  pagePath,
  sharePath,
  spacePath,
  TOLD_PATH,
} from "../app/routes";
import { toggleFavourite } from "../app/star";
import { isOnline, mayAdminister, spaces, toggleWatch, trees, userId } from "../app/store";
import { MOST_COUNTED, unread } from "../app/told";
import { above } from "../app/tree_model";
import { initials, words } from "../app/words";
import { unsent } from "../sync/unsent_count";

function Path() {
  const node = pageInView();
  if (!node) return <span class="grow" />;
  const isAround = node !== page();
  const space = spaces.value.find((one) => one.id === node.space_id);
  const tree = trees.value.get(node.space_id);
  const ancestors = tree ? above(tree, node.id) : [];
  const shown = ancestors.slice(-3);
  return (
    <nav class="path grow" aria-label={words.value.path}>
      <ol>
        {space && (
          <li>
            <a href={spacePath(space.id)} dir="auto">
              {space.name}
            </a>
          </li>
        )}
        {ancestors.length > shown.length && <li>…</li>}
        {shown.map((one) => (
          <li key={one.id}>
            <a href={pagePath(one.id)} dir="auto">
              {one.title}
            </a>
          </li>
        ))}
        {isAround && (
          <li>
            <a href={pagePath(node.id)} dir="auto">
              {node.title}
            </a>
          </li>
        )}
      </ol>
    </nav>
  );
}

/** Opens the comments; on a phone that is in the menu. */
function CommentsButton({ id }: { id: string }) {
  const w = words.value;
  const count = openThreads(id);
  const label = count ? w.openComments(count) : w.comments;
  return (
    <span class="wide-only">
      <button
        type="button"
        class="quiet"
        aria-label={label}
        title={label}
        aria-expanded={panel.value?.page === id}
        onClick={() => (panel.value?.page === id ? closePanel() : openComments())}
      >
        <Icon name="comment" />
        {count > 0 && <span aria-hidden="true">{count}</span>}
      </button>
    </span>
  );
}

function Actions() {
  const w = words.value;
  const node = page();
  if (!node || node.trashed_at) return null;
  const may = mayWrite(node.role);
  const star = node.is_favourite ? w.removeFavourite : w.addFavourite;
  return (
    <>
      <button
        type="button"
        class={`quiet star${node.is_favourite ? " on" : ""}`}
        aria-label={star}
        title={star}
        onClick={() => void toggleFavourite()}
      >
        <Icon name="star" isFilled={node.is_favourite} />
      </button>
      <CommentsButton id={node.id} />
      {may && editing.value === node.id && (
        <button
          type="button"
          class="primary"
          data-done
          onClick={() => {
            editing.value = "";
          }}
        >
          {w.done}
        </button>
      )}
      {may && editing.value !== node.id && (
        <button type="button" onClick={startEditing}>
          <Icon name="edit" />
          <span class="wide-only">{w.edit}</span>
          <span class="unseen narrow-only">{w.edit}</span>
        </button>
      )}
      <Menu
        label={w.more}
        kind="end"
        items={[
          ...(may
            ? [{ title: w.newPageHere, icon: "plus" as const, run: () => startNewPage(node.id) }]
            : []),
          { title: w.comments, icon: "comment", run: openComments },
          { title: star, icon: "star", run: () => void toggleFavourite() },
          {
            title: node.is_watched ? w.unwatch : w.watch,
            icon: "bell",
            run: () => void toggleWatch(),
          },
          { title: w.copyLink, icon: "link", run: () => void copyLink() },
          { title: w.history, icon: "clock", run: () => go(historyPath(node.id)) },
          { title: w.filesOfPage, icon: "page", run: () => go(filesPath(node.id)) },
          ...(mayAdminister.value
            ? [
                {
                  title: w.auditOfPage,
                  icon: "clock" as const,
                  run: () => go(auditPath(node.id)),
                },
              ]
            : []),
          ...(may
            ? [{ title: w.share, icon: "link" as const, run: () => go(sharePath(node.id)) }]
            : []),
          ...(may ? [{ title: w.move, icon: "page" as const, run: () => show("move") }] : []),
          ...(mayManage(node)
            ? [{ title: w.permissions, icon: "lock" as const, run: () => show("permissions") }]
            : []),
          {
            title: w.exportPage,
            icon: "page",
            run: () => go(exportPath("page", node.id)),
          },
          { title: w.print, icon: "page", run: () => print() },
          ...(may
            ? [{ title: w.toTrash, icon: "trash" as const, run: () => void moveToTrash() }]
            : []),
          { title: w.openPlain, icon: "page", run: () => leaveFor(`/p/${node.id}`) },
        ]}
      >
        <Icon name="more" />
      </Menu>
    </>
  );
}

const SHOWN = 3;

/** The other people at the page: initials, and all names for whoever asks or listens. */
function People() {
  const found = people.value;
  const all = found.length ? words.value.alsoHere(found.map((one) => one.name)) : "";
  return (
    <>
      <Told text={all} />
      {all && <Initials found={found} all={all} />}
    </>
  );
}

/** Who reloads a page goes and comes again: only what lasts is read aloud. */
const LASTS_MS = 2000;

/** A text for who listens, told once it has not changed for a while. */
function Told({ text }: { text: string }) {
  const [told, setTold] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setTold(text), LASTS_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span class="unseen" role="status">
      {told}
    </span>
  );
}

function Initials({ found, all }: { found: typeof people.value; all: string }) {
  return (
    <span class="people" role="img" aria-label={all} title={all}>
      {found.slice(0, SHOWN).map((one) => (
        <span key={one.id} class="initials" aria-hidden="true">
          {initials(one.name)}
        </span>
      ))}
      {found.length > SHOWN && (
        <span class="initials" aria-hidden="true">
          +{found.length - SHOWN}
        </span>
      )}
    </span>
  );
}

/** How far the edits of the open page have come. */
function Saving() {
  const w = words.value;
  const now = saving.value;
  if (!now || now.page !== page()?.id) return null;
  if (editing.value !== now.page && now.state === "saved") return null;
  const text = { saved: w.saved, saving: w.saving, kept: w.kept, refused: w.notSaved }[now.state];
  return (
    <span class={now.state === "saved" ? "faint" : "chip"} role="status" data-saving={now.state}>
      {text}
    </span>
  );
}

/** The pages with edits that are not sent, but for the open one, of which `Saving` speaks; a menu leads to each. */
export function Unsent() {
  const open = page()?.id;
  const isSaid = (id: string): boolean =>
    editing.value === id || (id === open && saving.value?.page === id);
  const found = [...(unsent.value.get(userId()) ?? [])].filter(([id]) => !isSaid(id));
  const text = found.length ? words.value.notSent(found.length) : "";
  const titleOf = (id: string): string | undefined =>
    [...trees.value.values()].map((tree) => tree.byId.get(id)?.title).find(Boolean);
  return (
    <section class="unsent" data-unsent={found.length} {...(text ? { "aria-label": text } : {})}>
      <span class="unseen" role="status">
        {text}
      </span>
      {text && (
        <Menu
          label={text}
          kind="end"
          items={found.map(([id, title]) => ({
            title: titleOf(id) ?? title,
            icon: "page",
            run: () => go(pagePath(id)),
          }))}
        >
          <span class="chip">{text}</span>
        </Menu>
      )}
    </section>
  );
}

/** Leads to the notifications; says how many are unread. */
function Bell() {
  const w = words.value;
  const count = unread.value < MOST_COUNTED ? String(unread.value) : `${MOST_COUNTED - 1}+`;
  const label = unread.value ? w.unread(count) : w.notifications;
  return (
    <a class="button quiet bell" href={TOLD_PATH} aria-label={label} title={label}>
      <Icon name="bell" />
      {unread.value > 0 && (
        <span class="unread" aria-hidden="true">
          {count}
        </span>
      )}
    </a>
  );
}

export function TopBar() {
  const w = words.value;
  const isHidden = isNarrow.value ? !isDrawerOpen.value : !preferences.value.sidebar;
  return (
    <header id="topbar" class="topbar">
      {isHidden && (
        <button
          type="button"
          class="quiet"
          data-first
          aria-label={w.openMenu}
          title={w.openMenu}
          onClick={toggleSidebar}
        >
          <Icon name={isNarrow.value ? "menu" : "sidebar"} />
        </button>
      )}
      <Path />
      {!isOnline.value && (
        <span class="chip offline" role="status" title={w.offlineText}>
          <Icon name="offline" />
          {w.offline}
        </span>
      )}
      {!isNarrow.value && <Unsent />}
      <Saving />
      <People />
      {isHidden && (
        <button
          type="button"
          class="quiet"
          aria-label={w.search}
          title={w.search}
          onClick={() => {
            dialog.value = "palette";
          }}
        >
          <Icon name="search" />
        </button>
      )}
      <Bell />
      <Actions />
    </header>
  );
}
