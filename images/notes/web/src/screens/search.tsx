/** The search screen: hits as marked text, while one types; in all spaces, or in one. */
import { useLayoutEffect, useState } from "preact/hooks";
import { useHits } from "../app/finding";
import { Icon } from "../app/icons";
import { Pieces } from "../app/palette";
import { arrive } from "../app/router";
import { pagePath, searchPath } from "../app/routes";
import { spaces } from "../app/store";
import { words } from "../app/words";

export function Screen(given: { query: string; space: string }) {
  const w = words.value;
  const [typed, setTyped] = useState(given.query);
  const [chosen, setSpace] = useState(given.space);
  // A space that one may not see, or not any more, limits nothing.
  const space = spaces.value.some((one) => one.id === chosen) ? chosen : "";
  const { hits, problem, isBusy } = useHits(typed, space);
  useLayoutEffect(() => {
    document.title = w.search;
    arrive();
    document.getElementById("query")?.focus();
  }, []);
  const search = (text: string, where: string): void => {
    setTyped(text);
    setSpace(where);
    history.replaceState(history.state, "", searchPath(text, where));
  };
  const isAnswered = typed.trim() !== "" && !isBusy;
  const outcome = hits.length ? w.hits(hits.length) : w.noSearch(typed);
  return (
    <div class="search">
      <h1 id="title" tabIndex={-1}>
        {w.search}
      </h1>
      <label class="search-field">
        <span class="unseen">{w.searchPages}</span>
        <Icon name="search" />
        <input
          id="query"
          type="search"
          maxLength={300}
          placeholder={w.searchPages}
          value={typed}
          onInput={(event) => search(event.currentTarget.value, space)}
        />
      </label>
      {spaces.value.length > 1 && (
        <label class="field">
          {w.searchIn}
          <select value={space} onChange={(event) => search(typed, event.currentTarget.value)}>
            <option value="">{w.allSpaces}</option>
            {spaces.value.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <p class="faint" role="status">
        {problem ? w.searchFailed(problem) : isAnswered ? outcome : ""}
      </p>
      <ol class="hits">
        {hits.map((hit) => (
          <li key={hit.id}>
            <a href={pagePath(hit.id)} dir="auto">
              <Pieces pieces={hit.title} />
            </a>
            <p dir="auto">
              <Pieces pieces={hit.excerpt} />
            </p>
            <small class="faint">
              {spaces.value.find((one) => one.id === hit.space_id)?.name ?? ""}
            </small>
          </li>
        ))}
      </ol>
    </div>
  );
}
