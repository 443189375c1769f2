/** The replies that are being written in this tab: they stay at their threads, and outlive them. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { comments } from "../../app/comments";
import { notice, userId } from "../../app/store";
import { drafts, draftTurns, noteDraft } from "./drafts";
import { showLater, waitingOn } from "./later";
import { beside } from "./words";

const prefix = (): string => `${userId()} reply `;

/** True if the user has begun a reply to a thread. */
export const hasReply = (thread: string): boolean =>
  draftTurns.value >= 0 && drafts.has(prefix() + thread);

/**
 * Moves the replies of a page whose threads are gone to the text of its new comment. Returns the passage of the first,
 * or undefined if there are none.
 */
export function moveReplies(page: string, threads: ReadonlySet<string>): string | undefined {
  const target = `${userId()} new ${page}`;
  let quote: string | undefined;
  for (const [key, one] of [...drafts]) {
    const isLeft = one.page === page && key.startsWith(prefix());
    if (!isLeft || threads.has(key.slice(prefix().length))) continue;
    noteDraft(key);
    if (!one.text.trim()) continue;
    const before = drafts.get(target);
    const texts = [before?.text ?? "", one.text].filter((text) => text.trim());
    const people = [...(before?.people ?? []), ...one.people];
    noteDraft(target, { text: texts.join("\n\n"), people, page });
    quote ??= one.quote ?? "";
  }
  return quote;
}

/**
 * Moves the user's replies when their threads are gone from the list, says so, and calls `open` with the passage.
 * Returns how often it did.
 */
export function useReplies(page: string, may: boolean, open: (quote: string) => void): number {
  const [moves, setMoves] = useState(0);
  const read = comments.value;
  const isReady = useRef(false);
  const move = (): void => {
    const now = comments.value;
    if (now?.page !== page) return;
    const threads = new Set([...now.list, ...waitingOn(page)].map((one) => one.id));
    const quote = moveReplies(page, threads);
    if (quote === undefined) return;
    open(quote);
    setMoves((before) => before + 1);
    notice.value = beside.value.replyMoved;
  };
  // The next form is there before the next key.
  useLayoutEffect(() => {
    if (read?.page !== page || !may) return;
    if (isReady.current) move();
    else {
      // Those that wait to be sent are not in the server's list.
      void showLater().then(() => {
        isReady.current = true;
        move();
      });
    }
  }, [read, may]);
  return moves;
}
