/** The home screen: spaces, favourites, pages that changed last; and the screen of one space. */
import type { FunctionComponent } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { mayWrite, type Reference } from "../api/types";
import { Icon } from "../app/icons";
import { preferences } from "../app/preferences";
import { arrive } from "../app/router";
import {
  exportPath,
  importPath,
  managePath,
  pagePath,
  searchPath,
  spacePath,
  trashPath,
} from "../app/routes";
import {
  favourites,
  mayAdminister,
  mayMakeSpace,
  me,
  recent,
  showSpace,
  site,
  spaces,
  trees,
} from "../app/store";
import { when, words } from "../app/words";
import { Message } from "./message";
import { Badge } from "./sidebar";

function Cards({ listed, icon }: { listed: Reference[]; icon: "star" | "page" }) {
  return (
    <ul class="cards">
      {listed.map((one) => (
        <li key={one.id}>
          <a href={pagePath(one.id)}>
            <Icon name={icon} isFilled={icon === "star"} />
            <span class="card-title" dir="auto">
              {one.title}
            </span>
            <small>
              {spaces.value.find((space) => space.id === one.space_id)?.name ?? ""}
              {" · "}
              {when(one.updated_at)}
            </small>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** The steps after the setup, for administrators; nobody waits for them. */
function FirstSteps() {
  const [part, setPart] = useState<{ HomeSteps: FunctionComponent }>();
  const isWanted = mayAdminister.value && preferences.value.firstSteps;
  useEffect(() => {
    if (!isWanted) return;
    import("./admin/next_steps")
      .then((found) => found.ready().then(() => setPart(found)))
      .catch(() => undefined);
  }, [isWanted]);
  return isWanted && part ? <part.HomeSteps /> : null;
}

export function HomeScreen() {
  const w = words.value;
  useLayoutEffect(() => {
    document.title = site.value?.name ?? w.home;
    arrive();
  }, [site.value?.name]);
  return (
    <div class="home">
      <h1 id="title" tabIndex={-1} dir="auto">
        {w.welcome(me.value?.name ?? "")}
      </h1>
      <FirstSteps />
      <section aria-labelledby="home-recent">
        <h2 id="home-recent">{w.recent}</h2>
        <Cards listed={recent.value} icon="page" />
      </section>
      <section aria-labelledby="home-favourites">
        <h2 id="home-favourites">{w.favourites}</h2>
        {favourites.value.length ? (
          <Cards listed={favourites.value} icon="star" />
        ) : (
          <p class="faint">{w.noFavourites}</p>
        )}
      </section>
      <section aria-labelledby="home-spaces">
        <h2 id="home-spaces">{w.spaces}</h2>
        {!spaces.value.length && <p class="faint">{w.noSpaces}</p>}
        <ul class="cards spaces">
          {spaces.value.map((space) => (
            <li key={space.id}>
              <a href={spacePath(space.id)}>
                <Badge name={space.name} />
                <span class="card-title" dir="auto">
                  {space.name}
                </span>
                <small dir="auto">{space.description}</small>
              </a>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

export function SpaceScreen({ id }: { id: string }) {
  const w = words.value;
  const space = spaces.value.find((one) => one.id === id);
  useEffect(() => {
    if (space) void showSpace(id);
  }, [id, space !== undefined]);
  useLayoutEffect(() => {
    if (space) document.title = space.name;
    if (space) arrive();
  }, [id, space?.name]);
  if (!space) return <Message title={w.notFound} text={w.notFoundText} />;
  const tree = trees.value.get(id);
  const top = tree?.below.get(null) ?? [];
  return (
    <div class="home">
      <h1 id="title" tabIndex={-1} dir="auto">
        {space.name}
      </h1>
      {space.description && (
        <p class="lead" dir="auto">
          {space.description}
        </p>
      )}
      <section aria-labelledby="space-pages">
        <h2 id="space-pages">{w.pages}</h2>
        {tree && !top.length && <p class="faint">{w.noPages}</p>}
        <Cards
          icon="page"
          listed={top.slice(0, 200).map((node) => ({
            id: node.id,
            title: node.title,
            space_id: id,
            updated_at: node.updated_at,
          }))}
        />
      </section>
      {mayMakeSpace.value && space.role === "manager" && (
        <p>
          <a href={managePath(id)}>{w.spaceSettings}</a>
        </p>
      )}
      <p>
        <a href={searchPath("", id)}>{w.searchSpace}</a>
      </p>
      {mayWrite(space.role) && (
        <p>
          <a href={importPath(id)}>{w.importPages}</a> ·{" "}
          <a href={exportPath("space", id)}>{w.exportPage}</a> ·{" "}
          <a href={trashPath(id)}>{w.trash}</a>
        </p>
      )}
      <p>
        <a href={`/spaces/${id}`} target="_self">
          {w.openPlain}
        </a>
      </p>
    </div>
  );
}
