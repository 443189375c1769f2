/** The panel beside a page: the threads, and the form of a new one. */
import type { Comment, PageNode } from "../../api/types";
import { closePanel } from "../../app/comments";
import { Icon } from "../../app/icons";
import { words } from "../../app/words";
import { TextForm } from "./form";
import { type Anchor, selected } from "./marks";
import { hasReply } from "./replies";
import { Thread } from "./thread";
import { beside } from "./words";

export type Reading = "reading" | "read" | "unreachable" | "refused";

export interface ThreadOf {
  first: Comment;
  replies: Comment[];
}

interface PanelProps {
  node: PageNode;
  threads: ThreadOf[];
  anchors: ReadonlyMap<string, Anchor>;
  now: string;
  state: Reading;
  /** Counts the replies that came to the new comment from elsewhere. */
  moves: number;
  draft: { quote: string } | undefined;
  /** Absent for a person who may not comment. */
  setDraft: ((draft: { quote: string } | undefined) => void) | undefined;
  isAll: boolean;
  setAll: (isAll: boolean) => void;
  post: (body: string) => Promise<boolean>;
  again: () => Promise<void>;
  show: (id: string) => void;
}

/** True for a thread that is open, or to which the user is writing a reply. */
export const isListed = ({ first }: ThreadOf): boolean => !first.resolved_at || hasReply(first.id);

export function Panel({
  node,
  threads,
  anchors,
  now,
  state,
  draft,
  setDraft,
  ...rest
}: PanelProps) {
  const b = beside.value;
  const { isAll, setAll, post, again, show, moves } = rest;
  const at = ({ first }: ThreadOf): number => anchors.get(first.id)?.at ?? Number.MAX_SAFE_INTEGER;
  const sorted = [...threads].sort((x, y) => at(x) - at(y));
  const open = sorted.filter((one) => !one.first.resolved_at);
  const listed = sorted.filter(isListed);
  const resolved = sorted.filter((one) => !isListed(one));
  const close = (): void => {
    closePanel();
    setDraft?.(undefined);
    // Back to the text.
    const text = document.querySelector<HTMLElement>("#main .ProseMirror");
    (text ?? document.getElementById("title"))?.focus({ preventScroll: true });
  };
  const row = ({ first, replies }: ThreadOf) => (
    <Thread
      key={first.id}
      {...{ node, first, replies, again }}
      anchor={anchors.get(first.id)}
      isNow={!draft && now === first.id}
      show={() => show(first.id)}
    />
  );
  return (
    <aside
      id="beside"
      class="beside"
      aria-labelledby="beside.title"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        if ((event.target as Element).closest("dialog")) return;
        event.preventDefault();
        close();
      }}
    >
      <header class="beside-head">
        <h2 id="beside.title" tabIndex={-1}>
          {words.value.comments}
        </h2>
        <button
          type="button"
          class="quiet close-panel"
          aria-label={b.close}
          title={b.close}
          onClick={close}
        >
          <Icon name="close" />
        </button>
      </header>
      <p class="unseen" role="status">
        {state === "read" ? b.open(open.length) : ""}
      </p>
      {state === "unreachable" && <p class="faint">{b.needsNetwork}</p>}
      {state === "refused" && <p class="faint">{words.value.failed}</p>}
      {state === "reading" && !threads.length && <p class="faint">{words.value.loading}</p>}
      {setDraft && draft && <NewComment key={moves} {...{ node, draft, setDraft, post }} />}
      {setDraft && !draft && (
        <button type="button" onClick={() => setDraft({ quote: selected()?.quote ?? "" })}>
          <Icon name="plus" />
          {b.newComment}
        </button>
      )}
      {state === "read" && !listed.length && !draft && (
        <p class="faint">{setDraft ? b.nothing : b.nothingToRead}</p>
      )}
      <ol class="threads">{listed.map(row)}</ol>
      {resolved.length > 0 && (
        <>
          <button type="button" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? b.hideResolved : b.showResolved(resolved.length)}
          </button>
          {isAll && <ol class="threads">{resolved.map(row)}</ol>}
        </>
      )}
    </aside>
  );
}

interface NewProps {
  node: PageNode;
  draft: { quote: string };
  setDraft: (draft: { quote: string } | undefined) => void;
  post: (body: string) => Promise<boolean>;
}

function NewComment({ node, draft, setDraft, post }: NewProps) {
  const b = beside.value;
  return (
    <section class="thread now" aria-label={b.newComment}>
      {draft.quote ? (
        <>
          <p class="passage" dir="auto">
            {draft.quote}
          </p>
          <button type="button" class="quiet whole" onClick={() => setDraft({ quote: "" })}>
            {b.wholePage}
          </button>
        </>
      ) : (
        <p class="faint note">{b.aboutPage}</p>
      )}
      <TextForm
        about={`new ${node.id}`}
        page={node.id}
        label={b.yourComment}
        send={b.comment}
        act={post}
        close={() => setDraft(undefined)}
      />
    </section>
  );
}
