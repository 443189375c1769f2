/** The settings of this browser: appearance, shortcuts, offline reading; the version below. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { prefer, preferences, type Theme } from "../app/preferences";
import { arrive } from "../app/router";
import { adminPath } from "../app/routes";
import { keepSpace, keptSpaces, mayAdminister, me, notice, site, spaces } from "../app/store";
import { size, words } from "../app/words";
import { removePage, storedPages } from "../sync/offline";
import { languages, nameOf } from "../words/catalogues";

function Stored() {
  const w = words.value;
  const [used, setUsed] = useState({ pages: 0, bytes: 0 });
  const count = async (): Promise<void> => {
    const pages = await storedPages(me.value?.id ?? "");
    setUsed({ pages: pages.length, bytes: pages.reduce((sum, page) => sum + page.bytes, 0) });
  };
  useEffect(() => void count(), []);
  const remove = async (): Promise<void> => {
    for (const page of await storedPages(me.value?.id ?? "")) await removePage(page.id);
    await count();
    notice.value = w.deletedStored;
  };
  return (
    <section aria-labelledby="settings-offline">
      <h2 id="settings-offline">{w.offlineReading}</h2>
      <p class="faint">{w.offlineReadingText}</p>
      <p>{w.stored(used.pages, size(used.bytes))}</p>
      {spaces.value.map((space) => (
        <label class="check" key={space.id}>
          <input
            type="checkbox"
            checked={keptSpaces.value.has(space.id)}
            onChange={(event) => void keepSpace(space.id, event.currentTarget.checked)}
          />
          <span dir="auto">{w.keepOffline(space.name)}</span>
        </label>
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
