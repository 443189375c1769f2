/** The dialog that creates a space. */
import { useState } from "preact/hooks";
import type { Space } from "../../api/types";
import { dialog } from "../../app/commands";
import { Head, Modal } from "../../app/dialogs";
import { go } from "../../app/router";
import { spacePath } from "../../app/routes";
import { notice, readSpaces, showSpace } from "../../app/store";
import { words } from "../../app/words";
import { Field, Form, send, textOf } from "../admin/tools";
import { slugOf } from "./slug";
import { manage, ready } from "./words";

export { ready };

export function Screen() {
  const w = manage.value;
  const title = words.value.newSpace;
  const [slug, setSlug] = useState("");
  const create = async (fields: FormData): Promise<void> => {
    const body = {
      name: textOf(fields, "name"),
      slug: textOf(fields, "slug") || slug,
      description: textOf(fields, "description"),
    };
    const made = await send<Space>("POST", "/api/v1/spaces", body);
    await readSpaces();
    await showSpace(made.id);
    dialog.value = "";
    notice.value = w.spaceMade(made.name);
    go(spacePath(made.id));
  };
  return (
    <Modal label={title} kind="managed">
      <Head title={title} />
      <p class="faint">{w.newSpaceText}</p>
      <Form title={w.create} act={create} isKept>
        <label class="field">
          {w.name}
          <input
            name="name"
            required
            maxLength={120}
            autocomplete="off"
            autofocus
            onInput={(event) => setSlug(slugOf(event.currentTarget.value))}
          />
        </label>
        <Field name="description" label={w.description} most={2000} isOptional />
        <label class="field">
          {w.slug}
          <input
            name="slug"
            required={!slug}
            placeholder={slug}
            pattern="[a-z0-9](\-?[a-z0-9]){0,49}"
            title={w.slugHint}
            autocomplete="off"
          />
          <small>{w.slugHint}</small>
        </label>
      </Form>
    </Modal>
  );
}
