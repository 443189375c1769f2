/** The sidebar: site, search, space switcher, favourites, page tree, account. */
import { commands, dialog, mayCreate, mayManageSpace, startNewPage } from "../app/commands";
import { isDrawerOpen, toggleSidebar } from "../app/layout";
import { Icon } from "../app/icons";
import { keyName } from "../app/keys";
import { Menu, type MenuItem } from "../app/menu";
import { go, route } from "../app/router";
import { adminPath, managePath, pageOf, pagePath, spacePath } from "../app/routes";
import {
  currentSpace,
  favourites,
  mayAdminister,
  mayMakeSpace,
  me,
  showSpace,
  site,
  spaces,
} from "../app/store";
import { words } from "../app/words";
import { PageTree } from "./tree";

const hue = (text: string): number =>
  [...text].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 360, 7);

export function Badge({ name }: { name: string }) {
  // The letter is drawn by the style sheet: as a text it would be a part of a button's name.
  const letter = ([...name.trim()][0] ?? "?").toUpperCase();
  return (
    <span class="badge" aria-hidden="true" data-letter={letter} style={{ "--hue": hue(name) }} />
  );
}

function SpaceSwitcher() {
  const w = words.value;
  const space = currentSpace.value;
  const start = (): void => {
    isDrawerOpen.value = false;
    dialog.value = "new space";
  };
  if (!space)
    return (
      <div class="pad">
        <p class="faint">{w.noSpaces}</p>
        {mayMakeSpace.value && (
          <button type="button" onClick={start}>
            <Icon name="plus" />
            {w.newSpace}
          </button>
        )}
      </div>
    );
  const listed: MenuItem[] = spaces.value.map((one) => ({
    title: one.name,
    isChecked: one.id === space.id,
    ...(one.description ? { detail: one.description } : {}),
    run: () => {
      void showSpace(one.id);
      go(spacePath(one.id));
    },
  }));
  const items: MenuItem[] = [
    ...listed,
    ...(mayManageSpace()
      ? [
          {
            title: w.spaceSettings,
            icon: "settings" as const,
            run: () => go(managePath(space.id)),
          },
        ]
      : []),
    ...(mayMakeSpace.value ? [{ title: w.newSpace, icon: "plus" as const, run: start }] : []),
  ];
  return (
    <Menu label={`${w.switchSpace}: ${space.name}`} kind="switcher" items={items}>
      <Badge name={space.name} />
      <span class="grow" dir="auto">
        {space.name}
      </span>
      <Icon name="updown" />
    </Menu>
  );
}

function Favourites() {
  const w = words.value;
  const current = pageOf(route.value);
  if (!favourites.value.length) return null;
  return (
    <nav aria-label={w.favourites} class="favourites">
      <h2>{w.favourites}</h2>
      <ul>
        {favourites.value.map((one) => (
          <li key={one.id}>
            <a
              href={pagePath(one.id)}
              dir="auto"
              {...(one.id === current ? { "aria-current": "page" as const } : {})}
            >
              <Icon name="star" isFilled />
              <span>{one.title}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Account() {
  const w = words.value;
  const who = me.value;
  if (!who) return null;
  return (
    <div class="account">
      <Menu
        label={`${w.account}: ${who.name}`}
        kind="up"
        items={[
          { title: w.yourAccount, icon: "lock", run: () => go("/w/account") },
          { title: w.settings, icon: "settings", run: () => go("/w/settings") },
          ...(mayAdminister.value
            ? [
                {
                  title: w.administration,
                  icon: "command" as const,
                  run: () => go(adminPath("people")),
                },
              ]
            : []),
          {
            title: w.shortcuts,
            icon: "command",
            run: () =>
              commands()
                .find((one) => one.id === "keys")
                ?.run(),
          },
          {
            title: w.signOut,
            icon: "close",
            run: () => {
              dialog.value = "sign out";
            },
          },
        ]}
      >
        <Badge name={who.name} />
        <span class="grow" dir="auto">
          {who.name}
        </span>
        <Icon name="updown" />
      </Menu>
    </div>
  );
}

export function Sidebar() {
  const w = words.value;
  const space = currentSpace.value;
  return (
    <div id="sidebar" class="sidebar">
      <div class="sidebar-head">
        <a
          class="site"
          href="/w"
          data-first
          onClick={() => {
            isDrawerOpen.value = false;
          }}
        >
          <Icon name="home" />
          <span dir="auto">{site.value?.name ?? w.home}</span>
        </a>
        <button
          type="button"
          class="quiet"
          aria-label={w.closeMenu}
          title={w.closeMenu}
          onClick={toggleSidebar}
        >
          <Icon name="sidebar" />
        </button>
      </div>
      <button
        type="button"
        class="search-button"
        onClick={() => {
          isDrawerOpen.value = false;
          dialog.value = "palette";
        }}
      >
        <Icon name="search" />
        <span class="grow">{w.search}</span>
        <kbd>{keyName("Mod+k")}</kbd>
      </button>
      <SpaceSwitcher />
      <div class="sidebar-pages">
        <Favourites />
        <div class="heading-row">
          <h2>{w.pages}</h2>
          {mayCreate() && (
            <button
              type="button"
              class="quiet"
              aria-label={w.newPage}
              title={w.newPage}
              onClick={() => startNewPage(null)}
            >
              <Icon name="plus" />
            </button>
          )}
        </div>
        {space && <PageTree label={`${w.pages}: ${space.name}`} />}
      </div>
      <Account />
    </div>
  );
}
