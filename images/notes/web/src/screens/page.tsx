/** The page view: the text with its contents list, what links here, and what can be done. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { load } from "../api/signed_in";
import { mayWrite, type PageNode, type Reference } from "../api/types";
import { startEditing } from "../app/commands";
import { doubted, editing } from "../app/editing";
import { isWide } from "../app/layout";
import { live } from "../app/presence";
import { firstBlockSeen } from "../app/reading_place";
import { anchored, arrive, isAtTop, visit } from "../app/router";
import { pagePath } from "../app/routes";
import { notice, opened, openPage, trees } from "../app/store";
import { neighbours } from "../app/tree_model";
import { noScript } from "../app/updates";
import { when, words } from "../app/words";
import { render } from "../doc/render";
import { type Heading, headings } from "../doc/text";
import type { Editing } from "../editor/editing";
import { Message } from "./message";

const FEWEST_HEADINGS = 3;
/** A long page is drawn in two parts: these blocks fill the highest screen, and are there at once. */
const FIRST_BLOCKS = 60;

export function PageScreen({ id }: { id: string }) {
  useEffect(() => {
    void openPage(id);
  }, [id]);
  const shown = opened.value?.id === id ? opened.value : undefined;
  const now = live.value?.page === id ? live.value : undefined;
  const stored = shown?.node;
  const node = useMemo(
    () => (stored && now ? { ...stored, title: now.title, doc: now.doc } : stored),
    [stored, now],
  );
  useLayoutEffect(() => {
    if (node || shown?.problem) arrive();
  }, [visit.value.number, node !== undefined, shown?.problem]);
  useLayoutEffect(() => {
    if (node) document.title = node.title;
  }, [node?.title]);
  const w = words.value;
  const isEdited = node !== undefined && editing.value === id && mayWrite(node.role);
  // Now: before the editor is drawn, the page that was read goes.
  const from = useMemo(() => (isEdited ? firstBlockSeen() : 0), [isEdited]);
  if (node?.trashed_at)
    return <Message title={w.trashed} action={{ title: w.openPlain, path: `/p/${id}` }} />;
  if (isEdited) return <EditScreen node={node} from={from} />;
  if (node) return <Reading node={node} storedAt={shown?.storedAt} />;
  switch (shown?.problem) {
    case "missing":
      return <Message title={w.notFound} text={w.notFoundText} />;
    case "unreachable":
      return <Message title={w.notStored} text={w.notStoredText} retry={() => void openPage(id)} />;
    case "failed":
      return <Message title={w.failed} text={shown.detail ?? ""} retry={() => void openPage(id)} />;
    default:
      return <Skeleton />;
  }
}

/** Another page may be edited already. */
const stopEditing = (id: string): void => {
  if (editing.value === id) editing.value = "";
};

/** The editor, which is fetched when it is needed first. */
function EditScreen({ node, from }: { node: PageNode; from: number }) {
  const [part, setPart] = useState<{ Editing: typeof Editing }>();
  useEffect(() => {
    import("../editor/editing").then(setPart, (error) => {
      notice.value = words.value.notOpened(String(error));
      void noScript();
      stopEditing(node.id);
    });
    return () => stopEditing(node.id);
  }, [node.id]);
  if (!part) return <Skeleton />;
  return (
    <div class="reading">
      <part.Editing node={node} from={from} done={() => stopEditing(node.id)} />
    </div>
  );
}

/** Grey lines while a page is read for the first time, shown only if that takes a while. */
export function Skeleton() {
  return (
    <div class="skeleton" aria-busy="true">
      <p class="unseen" role="status">
        {words.value.loading}
      </p>
      {[60, 96, 90, 94, 40].map((width) => (
        <div key={width} style={{ inlineSize: `${width}%` }} />
      ))}
    </div>
  );
}

function Reading({ node, storedAt }: { node: PageNode; storedAt: number | undefined }) {
  const w = words.value;
  const found = useMemo(() => headings(node.doc), [node.doc]);
  const [isWhole, setWhole] = useState(() => !isAtTop());
  // An effect runs after the first part is painted.
  useEffect(() => setWhole(true), []);
  const contents = found.length >= FEWEST_HEADINGS && <Contents found={found} isWhole={isWhole} />;
  const isBeside = contents && isWide.value;
  return (
    <div class={`reading${isBeside ? " with-contents" : ""}`}>
      <article aria-labelledby="title">
        <h1 id="title" tabIndex={-1} dir="auto">
          {node.title}
        </h1>
        <div class="faint meta">
          <time dateTime={node.updated_at} title={new Date(node.updated_at).toLocaleString()}>
            {w.changed(when(node.updated_at))}
          </time>
          {storedAt !== undefined && <span class="chip">{w.offlineSince(when(storedAt))}</span>}
          {isWhole && <Extras key={node.id} node={node} isStored={storedAt !== undefined} />}
        </div>
        {doubted.value.has(node.id) && mayWrite(node.role) && (
          <p class="refused" role="status">
            {w.doubtfulHere}{" "}
            <button type="button" onClick={startEditing}>
              {w.decide}
            </button>
          </p>
        )}
        {!isBeside && contents}
        <PageBody node={node} isWhole={isWhole} />
      </article>
      {isBeside && contents}
      <footer class="page-foot">
        <Backlinks id={node.id} version={node.version} />
        <Turn node={node} />
      </footer>
    </div>
  );
}

/** What comes to the text later: nobody waits for it. */
function Extras(given: { node: PageNode; isStored: boolean }) {
  const [part, setPart] = useState<typeof import("./reading/extras")>();
  useEffect(() => {
    let isGone = false;
    import("./reading/extras")
      .then((found) => found.ready().then(() => isGone || setPart(found)))
      .catch(() => undefined);
    return () => {
      isGone = true;
    };
  }, []);
  return part ? <part.Extras {...given} /> : null;
}

/** The page's text; until `isWhole` the beginning of a long one. */
function PageBody({ node, isWhole }: { node: PageNode; isWhole: boolean }) {
  const w = words.value;
  const isLong = node.doc.content.length > FIRST_BLOCKS * 2;
  const isBegun = isLong && !isWhole;
  const body = useMemo(() => {
    const content = isBegun ? node.doc.content.slice(0, FIRST_BLOCKS) : node.doc.content;
    return render({ ...node.doc, content }, "/w/p/", w);
  }, [node.doc, w, isBegun]);
  const isEmpty = node.doc.content.every(
    (block) => block.type === "paragraph" && !block.content?.length,
  );
  if (isEmpty) {
    return (
      <p class="faint">
        {words.value.empty}{" "}
        {mayWrite(node.role) && (
          <button type="button" onClick={startEditing}>
            {words.value.edit}
          </button>
        )}
      </p>
    );
  }
  return <div class="prose">{body}</div>;
}

// No heading of a text can have an id with a colon.
function Contents({ found, isWhole }: { found: Heading[]; isWhole: boolean }) {
  const [current, setCurrent] = useState("");
  useEffect(() => {
    const seen = new Map<string, boolean>();
    const watched = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) seen.set(entry.target.id, entry.isIntersecting);
        const first = found.find((heading) => seen.get(heading.id));
        if (first) setCurrent(first.id);
      },
      { root: document.getElementById("main"), rootMargin: "0px 0px -60% 0px" },
    );
    for (const heading of found) {
      const element = anchored(heading.id);
      if (element) watched.observe(element);
    }
    return () => watched.disconnect();
  }, [found, isWhole]);
  const id = "page:contents";
  const list = (
    <ul>
      {found.map((heading) => (
        <li key={heading.id} class={heading.level > 1 ? "under" : ""}>
          <a
            href={`#${heading.id}`}
            dir="auto"
            {...(heading.id === current ? { "aria-current": "true" as const } : {})}
          >
            {heading.text}
          </a>
        </li>
      ))}
    </ul>
  );
  return (
    <nav class="contents" aria-labelledby={id}>
      {isWide.value ? (
        <>
          <h2 id={id}>{words.value.contents}</h2>
          {list}
        </>
      ) : (
        <Folded id={id}>{list}</Folded>
      )}
    </nav>
  );
}

/** The contents where there is no room beside the text: closed until somebody opens them, and after a jump. */
function Folded({ id, children }: { id: string; children: ComponentChildren }) {
  const folded = useRef<HTMLDetailsElement>(null);
  const close = (): void => folded.current?.removeAttribute("open");
  return (
    <details
      ref={folded}
      // The router scrolls after this: the heading is at its final place.
      onClick={(event) => (event.target as Element).closest("a") && close()}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !folded.current?.open) return;
        event.preventDefault();
        close();
        folded.current.querySelector("summary")?.focus();
      }}
    >
      <summary id={id}>{words.value.contents}</summary>
      {children}
    </details>
  );
}

function Backlinks({ id, version }: { id: string; version: number }) {
  const [found, setFound] = useState<Reference[]>([]);
  useEffect(() => {
    const stop = new AbortController();
    setFound([]);
    const path = `/api/v1/nodes/${id}/backlinks`;
    load<Reference[]>(path, setFound, { signal: stop.signal }).catch(() => undefined);
    return () => stop.abort();
  }, [id, version]);
  if (!found.length) return null;
  return (
    <section aria-labelledby="page:linked">
      <h2 id="page:linked">{words.value.linkedFrom}</h2>
      <ul class="links">
        {found.map((one) => (
          <li key={one.id}>
            <a href={pagePath(one.id)} dir="auto">
              {one.title}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Turn({ node }: { node: PageNode }) {
  const w = words.value;
  const tree = trees.value.get(node.space_id);
  const [before, after] = useMemo(() => (tree ? neighbours(tree, node.id) : []), [tree, node.id]);
  if (!before && !after) return null;
  return (
    <nav class="turn" aria-label={`${w.previous}, ${w.next}`}>
      {before ? (
        <a rel="prev" href={pagePath(before.id)}>
          <small>{w.previous}</small>
          <span dir="auto">{before.title}</span>
        </a>
      ) : (
        <span />
      )}
      {after && (
        <a rel="next" href={pagePath(after.id)}>
          <small>{w.next}</small>
          <span dir="auto">{after.title}</span>
        </a>
      )}
    </nav>
  );
}
