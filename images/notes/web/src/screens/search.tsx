/** The search screen: hits as marked text, while one types. */
import { useLayoutEffect, useState } from "preact/hooks";
import { Icon } from "../app/icons";
import { Pieces, useHits } from "../app/palette";
import { arrive } from "../app/router";
import { pagePath } from "../app/routes";
import { spaces } from "../app/store";
import { words } from "../app/words";

export function SearchScreen({ query }: { query: string }) {
  const w = words.value;
  const [typed, setTyped] = useState(query);
  const { hits, isBusy } = useHits(typed);
  useLayoutEffect(() => {
    document.title = w.search;
    arrive();
    document.getElementById("query")?.focus();
  }, []);
  const onInput = (text: string): void => {
    setTyped(text);
    history.replaceState(history.state, "", `/w/search?q=${encodeURIComponent(text)}`);
  };
  const isAsked = typed.trim() !== "";
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
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <p class="faint" role="status">
        {isAsked && !isBusy ? (hits.length ? w.hits(hits.length) : w.noSearch(typed)) : ""}
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
              {spaces.value.find((space) => space.id === hit.space_id)?.name ?? ""}
            </small>
          </li>
        ))}
      </ol>
    </div>
  );
}
