/** The settings of a space, for its managers: name, members, site, use, deletion. */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { arrive, go } from "../../app/router";
import { spacePath } from "../../app/routes";
import { notice, readSpaces, site, spaces } from "../../app/store";
import { size, words } from "../../app/words";
import { Form, send, State, textOf, useLoaded } from "../admin/tools";
import { type Share, Used } from "../admin/used";
import { Message } from "../message";
import { LookOfSite } from "./look";
import { Members } from "./members";
import { Site } from "./site";
import type { PartProps, WholeSpace } from "./whole_space";
import { manage, ready } from "./words";

export { ready };

function General({ space, again }: PartProps) {
  const w = manage.value;
  const save = async (fields: FormData): Promise<void> => {
    await send("PATCH", `/api/v1/spaces/${space.id}`, {
      name: textOf(fields, "name"),
      description: textOf(fields, "description"),
      slug: textOf(fields, "slug"),
    });
    notice.value = w.saved;
    await Promise.all([again(), readSpaces()]);
  };
  return (
    <section aria-labelledby="space-general">
      <h2 id="space-general">{w.general}</h2>
      <Form title={w.save} act={save} isKept>
        <label class="field">
          {w.name}
          <input
            name="name"
            required
            maxLength={120}
            defaultValue={space.name}
            autocomplete="off"
          />
        </label>
        <label class="field">
          {w.description}
          <textarea name="description" maxLength={2000} rows={2} defaultValue={space.description} />
        </label>
        <label class="field">
          {w.slug}
          <input
            name="slug"
            required
            pattern="[a-z0-9](\-?[a-z0-9]){0,49}"
            title={w.slugHint}
            defaultValue={space.slug}
            autocomplete="off"
          />
          <small>{w.slugHint}</small>
        </label>
      </Form>
    </section>
  );
}

function Use({ id }: { id: string }) {
  const w = manage.value;
  const usage = useLoaded<{ bytes: Share; pages: Share }>(`/api/v1/spaces/${id}/usage`);
  const found = usage.data;
  const number = (n: number): string => n.toLocaleString(document.documentElement.lang);
  return (
    <section aria-labelledby="space-use">
      <h2 id="space-use">{w.use}</h2>
      <p class="faint">{w.useText}</p>
      <State of={usage} />
      {found && (
        <ul class="uses">
          <Used
            title={w.bytes}
            share={found.bytes}
            text={w.of(size(found.bytes.used), size(found.bytes.limit))}
          />
          <Used
            title={w.pages}
            share={found.pages}
            text={w.of(number(found.pages.used), number(found.pages.limit))}
          />
        </ul>
      )}
    </section>
  );
}

function Deletion({ space }: { space: WholeSpace }) {
  const w = manage.value;
  const check = (field: HTMLInputElement): void => {
    const isNamed = field.value.trim() === space.name.trim();
    field.setCustomValidity(isNamed || !field.value ? "" : w.wrongName);
  };
  const remove = async (): Promise<void> => {
    await send("DELETE", `/api/v1/spaces/${space.id}`);
    notice.value = w.spaceDeleted(space.name);
    go("/w", true);
    await readSpaces();
  };
  return (
    <section aria-labelledby="space-deletion">
      <h2 id="space-deletion">{w.deletion}</h2>
      <p class="faint">{w.deletionText}</p>
      <details class="add">
        <summary>{w.deletion}</summary>
        <Form title={w.deleteSpace} act={remove} isKept>
          <label class="field">
            <span dir="auto">{w.typeName(space.name)}</span>
            <input
              name="typed"
              required
              autocomplete="off"
              onInput={(event) => check(event.currentTarget)}
            />
          </label>
        </Form>
      </details>
    </section>
  );
}

function Managed({ id }: { id: string }) {
  const w = manage.value;
  const loaded = useLoaded<WholeSpace>(`/api/v1/spaces/${id}`);
  const space = loaded.data;
  const listed = spaces.value.find((one) => one.id === id);
  // The list is read again when somebody else changes a space.
  useEffect(() => {
    if (space) void loaded.again();
  }, [spaces.value]);
  const title = listed ? w.settingsOf(listed.name) : "";
  useLayoutEffect(() => {
    document.title = title;
    arrive();
  }, [id, title]);
  return (
    <div class="settings managed">
      <h1 id="title" tabIndex={-1} dir="auto">
        {title}
      </h1>
      <p>
        <a href={spacePath(id)}>{w.openSpace}</a>
      </p>
      <State of={loaded} />
      {space && (
        <>
          <General space={space} again={loaded.again} />
          <Members space={space} again={loaded.again} />
          <Site space={space} again={loaded.again} />
          <LookOfSite space={id} />
          <Use id={id} />
          <Deletion space={space} />
        </>
      )}
    </div>
  );
}

export function Screen({ id }: { id: string }) {
  const w = manage.value;
  const space = spaces.value.find((one) => one.id === id);
  if (!space) return <Message title={words.value.notFound} text={words.value.notFoundText} />;
  const back = { title: w.openSpace, path: spacePath(id) };
  if (site.value?.space_id) return <Message title={w.mainOnly} action={back} />;
  if (space.role !== "manager") return <Message title={w.notManager} action={back} />;
  return <Managed key={id} id={id} />;
}
