/** A page as it was. */
import { useMemo, useRef } from "preact/hooks";
import { words } from "../../app/words";
import { render } from "../../doc/render";
import type { Doc } from "../../doc/types";
import type { Answer } from "./parts";

export interface OldPage {
  at: string;
  title: string;
  doc: Doc;
}

type Shown = Pick<OldPage, "title" | "doc">;

/** The page that was read; while another one is read, the one before it. */
export function Old({ found }: { found: Answer<Shown> }) {
  const last = useRef<Shown>(undefined);
  if (found.answer) last.current = found.answer;
  const shown = found.problem ? undefined : last.current;
  const body = useMemo(() => shown && render(shown.doc, "/w/p/", words.value), [shown]);
  if (!shown) {
    return (
      <p class="faint" role="status">
        {found.detail ?? words.value.loading}
      </p>
    );
  }
  return (
    <article class="old-text" aria-labelledby="old-title" aria-busy={!found.answer}>
      <h2 id="old-title" dir="auto">
        {shown.title}
      </h2>
      <div class="prose">{body}</div>
    </article>
  );
}
