/** A person: the spaces that both see, and the pages that this person changed last. */
import type { Reference } from "../../api/types";
import { adminPath, pagePath, spacePath } from "../../app/routes";
import { mayAdminister, spaces } from "../../app/store";
import { when, words } from "../../app/words";
import { Frame, useAnswer } from "./parts";
import { around, ready } from "./words";

export { ready };

interface Person {
  id: string;
  name: string;
  email: string | null;
  spaces: { id: string; name: string }[];
  pages: Reference[];
}

export function Screen({ id }: { id: string }) {
  const a = around.value;
  const answer = useAnswer<Person>(`/api/v1/people/${id}`);
  const found = answer.answer;
  const spaceOf = (page: Reference): string =>
    spaces.value.find((one) => one.id === page.space_id)?.name ?? "";
  return (
    <Frame title={found?.name} answer={answer} back="/w">
      {found?.email && <p class="faint">{found.email}</p>}
      {found?.email && mayAdminister.value && (
        <p>
          <a href={`${adminPath("people")}?find=${encodeURIComponent(found.email)}`}>
            {a.inAdministration}
          </a>
        </p>
      )}
      <section aria-labelledby="person-spaces">
        <h2 id="person-spaces">{words.value.spaces}</h2>
        {!found?.spaces.length && <p class="faint">{a.noSharedSpaces}</p>}
        <ul class="links">
          {found?.spaces.map((one) => (
            <li key={one.id}>
              <a href={spacePath(one.id)} dir="auto">
                {one.name}
              </a>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="person-pages">
        <h2 id="person-pages">{a.pagesChanged}</h2>
        {!found?.pages.length && <p class="faint">{a.noPagesChanged}</p>}
        <ul class="links">
          {found?.pages.map((one) => (
            <li key={one.id}>
              <a href={pagePath(one.id)} dir="auto">
                {one.title}
              </a>{" "}
              <small class="faint">
                {spaceOf(one)} · {when(one.updated_at)}
              </small>
            </li>
          ))}
        </ul>
      </section>
    </Frame>
  );
}
