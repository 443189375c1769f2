/** The settings of this browser: appearance, shortcuts, offline reading; the version below. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { prefer, preferences, type Theme } from "../app/preferences";
import { arrive } from "../app/router";
import { adminPath } from "../app/routes";
import { keepSpace, keptSpaces, mayAdminister, notice, site, spaces, userId } from "../app/store";
import { size, words } from "../app/words";
import { pictures } from "../doc/text";
import { database } from "../sync/database";
import { type NotKept, notKept, storedNotKept } from "../sync/kept_trees";
import { removePage, storedPages } from "../sync/offline";
import type { StoredPage } from "../sync/stored";
import { languages, nameOf } from "../words/catalogues";

/** What is not stored of the spaces that one keeps: pages with the reason, and pictures. */
interface Missing {
  pages: ReadonlyMap<string, NotKept | undefined>;
  pictures: ReadonlyMap<string, number>;
}

async function missingOf(stored: readonly StoredPage[], user: string): Promise<Missing> {
  const kept = new Set((await (await database())?.getAllKeys("pictures")) ?? []);
  const [lacking, missing] = [new Map<string, number>(), new Map<string, NotKept | undefined>()];
  for (const space of keptSpaces.value) {
    const own = stored.filter((page) => page.space_id === space);
    const named = new Set(own.flatMap((page) => pictures(page.node.doc)));
    lacking.set(space, [...named].filter((id) => !kept.has(id)).length);
    missing.set(space, await storedNotKept(space, user));
  }
  return { pages: missing, pictures: lacking };
}

function Stored() {
  const w = words.value;
  const [used, setUsed] = useState({ pages: 0, bytes: 0 });
  const [missing, setMissing] = useState<Missing>();
  const count = async (): Promise<void> => {
    const pages = await storedPages(userId());
    setUsed({ pages: pages.length, bytes: pages.reduce((sum, page) => sum + page.bytes, 0) });
    setMissing(await missingOf(pages, userId()));
  };
  // Again when a space has been read.
  useEffect(() => void count(), [notKept.value]);
  const lacks = (space: string): string => {
    if (!keptSpaces.value.has(space)) return "";
    const known = notKept.value;
    const pages = known.has(space) ? known.get(space) : missing?.pages.get(space);
    const images = missing?.pictures.get(space) ?? 0;
    const said = [
      ...(pages ? [w.pagesNotKept(pages.pages, pages.why)] : []),
      ...(images ? [w.picturesNotKept(images)] : []),
    ];
    return said.join(" ");
  };
  const remove = async (): Promise<void> => {
    for (const page of await storedPages(userId())) await removePage(page.id);
    await count();
    notice.value = w.deletedStored;
  };
  return (
    <section aria-labelledby="settings-offline">
      <h2 id="settings-offline">{w.offlineReading}</h2>
      <p class="faint">{w.offlineReadingText}</p>
      <p>{w.stored(used.pages, size(used.bytes))}</p>
      {spaces.value.map((space) => (
        <div key={space.id}>
          <label class="check">
            <input
              type="checkbox"
              checked={keptSpaces.value.has(space.id)}
              aria-describedby={`lacks-${space.id}`}
              onChange={(event) => void keepSpace(space.id, event.currentTarget.checked)}
            />
            <span dir="auto">{w.keepOffline(space.name)}</span>
          </label>
          <p id={`lacks-${space.id}`} class="lacks" role="status">
            {lacks(space.id)}
          </p>
        </div>
      ))}
      <button type="button" onClick={() => void remove()} disabled={!used.pages}>
        {w.deleteStored}
      </button>
    </section>
  );
}

export function Screen() {
  const w = words.value;
  const current = preferences.value;
  useLayoutEffect(() => {
    document.title = w.settings;
    arrive();
  }, []);
  return (
    <div class="settings">
      <h1 id="title" tabIndex={-1}>
        {w.settings}
      </h1>
      <section aria-labelledby="settings-look">
        <h2 id="settings-look">{w.appearance}</h2>
        <label class="field">
          {w.theme}
          <select
            value={current.theme}
            onChange={(event) => prefer({ theme: event.currentTarget.value as Theme })}
          >
            <option value="system">{w.themeSystem}</option>
            <option value="light">{w.themeLight}</option>
            <option value="dark">{w.themeDark}</option>
          </select>
        </label>
        <label class="field">
          {w.language}
          <select
            value={current.language}
            onChange={(event) => prefer({ language: event.currentTarget.value })}
          >
            <option value="">{w.languageSystem}</option>
            {languages.map((tag) => (
              <option key={tag} value={tag} lang={tag}>
                {nameOf(tag)}
              </option>
            ))}
          </select>
        </label>
      </section>
      <section aria-labelledby="settings-keys">
        <h2 id="settings-keys">{w.shortcuts}</h2>
        <label class="check">
          <input
            type="checkbox"
            checked={current.singleKeys}
            onChange={(event) => prefer({ singleKeys: event.currentTarget.checked })}
          />
          <span>
            {w.singleKeys}
            <small>{w.singleKeysText}</small>
          </span>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={current.wholePage}
            onChange={(event) => prefer({ wholePage: event.currentTarget.checked })}
          />
          <span>
            {w.wholePage}
            <small>{w.wholePageText}</small>
          </span>
        </label>
      </section>
      <Stored />
      <p>
        <a href="/w/account">{w.yourAccount}</a>
      </p>
      {mayAdminister.value && (
        <p>
          <a href={adminPath("people")}>{w.administration}</a>
        </p>
      )}
      <p class="faint">{site.value ? w.version(site.value.version) : ""}</p>
    </div>
  );
}
