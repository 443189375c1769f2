/** The palette: pages by title at once, by text from the server, and every command. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Hit } from "../api/types";
import { dialog, possible } from "./commands";
import { keyName } from "./keys";
import { Modal } from "./dialogs";
import { Icon, type IconName } from "./icons";
import { type Found, useHits, usePeople } from "./finding";
import { candidate, marked, match, type Piece } from "./match";
import { go } from "./router";
import { pagePath, personPath, searchPath } from "./routes";
import { currentSpace, lastOpened, recent, spaces, trees } from "./store";
import { words } from "./words";

export function Pieces({ pieces }: { pieces: Piece[] }) {
  return (
    <>{pieces.map((piece, at) => (piece.hit ? <mark key={at}>{piece.text}</mark> : piece.text))}</>
  );
}

interface Choice {
  id: string;
  group: string;
  icon: IconName;
  pieces: Piece[];
  detail?: Piece[];
  aside?: string;
  key?: string;
  run: () => void;
}

/** The titles of the pages that are known here; of one space if `only` names it. */
function useTitles(only: string) {
  const all = trees.value;
  return useMemo(() => {
    const found = new Map<string, { title: string; space: string }>();
    for (const [space, tree] of all) {
      for (const node of tree.nodes) found.set(node.id, { title: node.title, space });
    }
    for (const one of [...recent.value, ...lastOpened.value]) {
      if (!found.has(one.id)) found.set(one.id, { title: one.title, space: one.space_id });
    }
    const list = [...found].filter(([, one]) => !only || one.space === only);
    return { found, list: list.map(([id, one]) => candidate(id, one.title)) };
  }, [all, recent.value, lastOpened.value, only]);
}

const plain = (text: string): Piece[] => [{ text, hit: false }];

function useChoices(typed: string, hits: Hit[], people: Found[], only: string): Choice[] {
  const titles = useTitles(only);
  const w = words.value;
  const spaceName = (id: string): string =>
    spaces.value.find((space) => space.id === id)?.name ?? "";
  const ofPage = (
    group: string,
    id: string,
    pieces: Piece[],
    space: string,
    icon: IconName = "page",
  ): Choice => ({
    id: `palette.page.${id}`,
    group,
    icon,
    pieces,
    aside: spaceName(space),
    run: () => go(pagePath(id)),
  });
  const listed = possible().filter((one) => one.id !== "palette" && one.id !== "search");
  const isCommand = typed.startsWith(">");
  const asked = isCommand ? typed.slice(1) : typed;
  const texts = listed.map((one) => candidate(one.id, one.title));
  const chosen = asked.trim()
    ? match(texts, asked, 6).map((found) => listed.find((one) => one.id === found.id))
    : listed;
  const commandChoices = chosen.flatMap((one) =>
    one
      ? [
          {
            id: `palette.command.${one.id}`,
            group: w.commands,
            icon: one.icon,
            pieces: marked(one.title, asked),
            ...(one.key ? { key: one.key } : {}),
            run: one.run,
          },
        ]
      : [],
  );
  if (isCommand) return commandChoices;
  if (!typed.trim()) {
    const isIn = (one: { space_id: string }): boolean => !only || one.space_id === only;
    const last = lastOpened.value.filter(isIn).slice(0, 6);
    const others = recent.value
      .filter(isIn)
      .filter((one) => !last.some((known) => known.id === one.id))
      .slice(0, 5);
    return [
      ...last.map((one) => ofPage(w.lastOpened, one.id, plain(one.title), one.space_id, "clock")),
      ...others.map((one) => ofPage(w.recent, one.id, plain(one.title), one.space_id)),
      ...commandChoices,
    ];
  }
  const byTitle = match(titles.list, typed, 8);
  const known = new Set(byTitle.map((one) => one.id));
  return [
    ...byTitle.map((one) => {
      const page = titles.found.get(one.id);
      return ofPage(w.inTitles, one.id, marked(page?.title ?? "", typed), page?.space ?? "");
    }),
    ...people.map((one) => ({
      id: `palette.person.${one.id}`,
      group: w.persons,
      icon: "person" as const,
      pieces: marked(one.name, typed),
      ...(one.email ? { aside: one.email } : {}),
      run: () => go(personPath(one.id)),
    })),
    ...hits
      .filter((hit) => !known.has(hit.id))
      .slice(0, 8)
      .map((hit) => ({
        ...ofPage(w.inText, hit.id, hit.title, hit.space_id),
        detail: hit.excerpt,
      })),
    ...commandChoices.slice(0, 4),
  ];
}

export function Palette() {
  const w = words.value;
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const [isOnly, setOnly] = useState(false);
  const space = spaces.value.length > 1 ? currentSpace.value : undefined;
  const only = isOnly && space ? space.id : "";
  const asked = typed.startsWith(">") ? "" : typed;
  const { hits, problem, isBusy } = useHits(asked, only);
  const people = usePeople(asked);
  const choices = useChoices(typed, hits, people, only);
  const chosen = Math.min(at, choices.length - 1);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const run = (choice: Choice | undefined): void => {
    if (!choice) return;
    dialog.value = "";
    choice.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowDown: chosen + 1,
      ArrowUp: chosen - 1,
      PageDown: chosen + 8,
      PageUp: chosen - 8,
    };
    const next = steps[event.key];
    if (event.isComposing) return;
    if (next !== undefined) {
      event.preventDefault();
      const isStep = event.key.startsWith("Arrow");
      setAt(
        isStep
          ? (next + choices.length) % Math.max(1, choices.length)
          : Math.min(Math.max(0, next), choices.length - 1),
      );
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(choices[chosen]);
    }
  };
  const groups = [...new Set(choices.map((choice) => choice.group))];
  return (
    <Modal label={w.searchHint} kind="palette">
      <div class="palette-field">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={w.searchHint}
          aria-expanded="true"
          aria-controls="palette.choices"
          aria-autocomplete="list"
          {...(choices[chosen] ? { "aria-activedescendant": choices[chosen].id } : {})}
          placeholder={w.searchHint}
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div id="palette.choices" class="choices" role="listbox" aria-label={w.searchHint} ref={list}>
        {groups.map((group, number) => (
          <div key={group} role="group" aria-labelledby={`palette.group.${number}`}>
            <h3 id={`palette.group.${number}`} role="presentation">
              {group}
            </h3>
            {choices.map((choice, index) =>
              choice.group === group ? (
                <div
                  key={choice.id}
                  id={choice.id}
                  role="option"
                  aria-selected={index === chosen}
                  class="choice"
                  onPointerMove={() => setAt(index)}
                  onClick={() => run(choice)}
                >
                  <Icon name={choice.icon} />
                  <span class="choice-text" dir="auto">
                    <Pieces pieces={choice.pieces} />
                    {choice.detail && (
                      <small>
                        <Pieces pieces={choice.detail} />
                      </small>
                    )}
                  </span>
                  {choice.aside && <small class="aside">{choice.aside}</small>}
                  {choice.key && <kbd>{keyName(choice.key)}</kbd>}
                </div>
              ) : null,
            )}
          </div>
        ))}
      </div>
      {problem ? (
        <p class="nothing">{w.searchFailed(problem)}</p>
      ) : (
        !choices.length && !isBusy && <p class="nothing">{w.noSearch(typed)}</p>
      )}
      <div class="palette-foot">
        {space && (
          <label class="check">
            <input
              type="checkbox"
              checked={isOnly}
              onChange={(event) => {
                setOnly(event.currentTarget.checked);
                setAt(0);
              }}
            />
            <span dir="auto">{w.onlyIn(space.name)}</span>
          </label>
        )}
        <a href={searchPath(asked.trim(), only)} onClick={() => (dialog.value = "")}>
          {w.allResults}
        </a>
      </div>
      <p class="unseen" role="status">
        {problem ? w.searchFailed(problem) : typed.trim() && !isBusy ? w.hits(choices.length) : ""}
      </p>
    </Modal>
  );
}
