/** One thread: the passage that it is about, its comments, and what can be done with it. */
import { useRef, useState } from "preact/hooks";
import { type Comment, mayComment, type PageNode } from "../../api/types";
import { notice, userId } from "../../app/store";
import { initials, when } from "../../app/words";
import { Ask, done } from "../around/parts";
import { TextForm } from "./form";
import { giveUpLater, isLater, saidOf } from "./later";
import type { Anchor } from "./marks";
import { partsOf } from "./mentions";
import { hasReply } from "./replies";
import { ask } from "./requests";
import { beside } from "./words";

interface Props {
  node: PageNode;
  first: Comment;
  replies: Comment[];
  anchor: Anchor | undefined;
  isNow: boolean;
  /** Goes to the passage. */
  show: () => void;
  /** Reads the comments again. */
  again: () => Promise<void>;
}

interface EntryProps {
  one: Comment;
  /** The answers that a deletion takes with it. */
  answers: string[];
  node: PageNode;
  again: () => Promise<void>;
}

/** What a request about a comment of a page names. */
const about = (node: PageNode, one: Comment) => ({
  ...{ page: node.id, title: node.title, id: one.id },
  ...(one.parent_id ? { parent: one.parent_id } : {}),
});

/** A comment with its author, and for its author the ways to change it. */
function Entry({ one, answers, node, again }: EntryProps) {
  const b = beside.value;
  const [isChanging, setChanging] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const name = one.author_name ?? b.somebody;
  const isOwn = one.author_id !== null && one.author_id === userId() && mayComment(node.role);
  const mayDelete = isOwn || node.role === "manager";
  const change = async (body: string): Promise<boolean> => {
    const what = { ...about(node, one), kind: "edit" as const, body, bases: [one.edited_at] };
    if (!(await done(() => ask(what), b.changed))) return false;
    setChanging(false);
    await again();
    return true;
  };
  const waits = isLater(one.id);
  const remove = async (): Promise<void> => {
    if (await giveUpLater(one.id)) {
      notice.value = b.deleted;
      return;
    }
    const what = { ...about(node, one), kind: "delete" as const, answers };
    if (await done(() => ask(what), b.deleted)) await again();
  };
  return (
    <div class="entry" data-comment={one.id}>
      <p class="by">
        <span class="initials" aria-hidden="true">
          {initials(name)}
        </span>
        <strong dir="auto">{name}</strong>
        <small class="faint">
          {waits && `${b.notSent} · `}
          <time dateTime={one.created_at} title={new Date(one.created_at).toLocaleString()}>
            {when(one.created_at)}
          </time>
          {one.edited_at && ` · ${b.edited}`}
        </small>
      </p>
      {isChanging ? (
        <TextForm
          about={`change ${one.id}`}
          page={node.id}
          label={b.yourComment}
          send={b.save}
          text={one.body}
          act={change}
          close={() => setChanging(false)}
        />
      ) : (
        <p class="body" dir="auto">
          {partsOf(one.body).map((part, at) =>
            part.id ? (
              <span key={at} class="mention">
                {part.text}
              </span>
            ) : (
              part.text
            ),
          )}
        </p>
      )}
      {!isChanging && mayDelete && (
        <div class="small-acts">
          {isOwn && !waits && (
            <button type="button" class="quiet" onClick={() => setChanging(true)}>
              {b.edit}
            </button>
          )}
          <button
            type="button"
            class="quiet"
            aria-label={b.deleteOf(name)}
            onClick={() => setAsking(true)}
          >
            {b.delete}
          </button>
        </div>
      )}
      {isAsking && (
        <Ask
          question={one.parent_id ? b.deleteAsk : b.deleteThreadAsk}
          yes={b.delete}
          act={() => void remove()}
          close={() => setAsking(false)}
        />
      )}
    </div>
  );
}

/** The passage, as a button that goes to it; where it is gone, that. */
function Passage({
  quote,
  anchor,
  show,
}: {
  quote: string;
  anchor: Anchor | undefined;
  show: () => void;
}) {
  const b = beside.value;
  const isGone = anchor?.state === "gone";
  return (
    <>
      {isGone || !anchor ? (
        <p class="passage" dir="auto">
          {quote}
        </p>
      ) : (
        <button type="button" class="passage" dir="auto" title={b.showPassage} onClick={show}>
          <span class="unseen">{b.showPassage}: </span>
          {quote}
        </button>
      )}
      {isGone && <p class="faint note">{b.gone}</p>}
      {anchor?.state === "changed" && <p class="faint note">{b.passageChanged}</p>}
    </>
  );
}

export function Thread({ node, first, replies, anchor, isNow, show, again }: Props) {
  const b = beside.value;
  // What was typed before is there again.
  const wasTyped = useRef(hasReply(first.id));
  const [isReplying, setReplying] = useState(wasTyped.current);
  const toReply = (): void => {
    wasTyped.current = false;
    setReplying(true);
  };
  const may = mayComment(node.role);
  const isResolved = first.resolved_at !== null;
  const reply = async (body: string): Promise<boolean> => {
    const what = { ...about(node, first), kind: "post" as const, id: "", parent: first.id, body };
    if (
      !(await done(
        () => ask(what),
        (made) => saidOf(made, b.replied),
      ))
    )
      return false;
    setReplying(false);
    await again();
    return true;
  };
  const resolve = async (): Promise<void> => {
    const bases = [first.state_changed_at];
    const what = { ...about(node, first), kind: "resolve" as const, resolved: !isResolved, bases };
    const text = isResolved ? b.reopened : b.resolved;
    if (!(await done(() => ask(what), text))) return;
    await again();
    document.getElementById("beside.title")?.focus();
  };
  const name = first.author_name ?? b.somebody;
  return (
    <li>
      <article
        class={`thread${isNow ? " now" : ""}${isResolved ? " is-over" : ""}`}
        data-thread={first.id}
        tabIndex={-1}
        aria-label={b.threadOf(name)}
      >
        {first.quote && <Passage quote={first.quote} anchor={anchor} show={show} />}
        {[first, ...replies].map((one) => (
          <Entry
            key={one.id}
            {...{ one, node, again }}
            answers={one === first ? replies.map(({ id }) => id) : []}
          />
        ))}
        {may && isReplying && (
          <TextForm
            about={`reply ${first.id}`}
            page={node.id}
            label={b.yourReply}
            send={b.reply}
            act={reply}
            quote={first.quote ?? ""}
            isQuiet={wasTyped.current}
            close={() => setReplying(false)}
          />
        )}
        {may && !isReplying && (
          <div class="acts">
            {(!isResolved || hasReply(first.id)) && (
              <button type="button" aria-label={b.replyTo(name)} onClick={toReply}>
                {b.reply}
              </button>
            )}
            {!isLater(first.id) && (
              <button
                type="button"
                aria-label={isResolved ? b.reopenOf(name) : b.resolveOf(name)}
                onClick={() => void resolve()}
              >
                {isResolved ? b.reopen : b.resolve}
              </button>
            )}
          </div>
        )}
      </article>
    </li>
  );
}
