/** One's notifications: what has happened, where, and what of it is unread. */
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { request } from "../../api/client";
import { EndedError, isCurrent, load } from "../../api/signed_in";
import { openPanel } from "../../app/comments";
import { arrive } from "../../app/router";
import { pagePath, spacePath } from "../../app/routes";
import { isOnline, notice } from "../../app/store";
import { heard, readUnread, unread } from "../../app/told";
import { when, words } from "../../app/words";
import { Message } from "../message";
import { Skeleton } from "../page";
import { ready, toldWords } from "./words";

export { ready };

type Kind = "mention" | "reply" | "comment" | "edit" | "access";

interface Told {
  id: string;
  seq: number;
  kind: Kind;
  space_id: string;
  node_id: string | null;
  comment_id: string | null;
  title: string;
  excerpt: string | null;
  actor_name: string | null;
  times: number;
  at: string;
  is_read: boolean;
}

interface Listed {
  unread: number;
  notifications: Told[];
}

const PART = 30;
/** The most of one answer; a longer list is read in parts. */
const MOST = 100;

/** The newest notifications, `most` of them, and the count of all unread ones. */
async function read(most: number, isUnread: boolean, signal: AbortSignal): Promise<Listed> {
  const all: Told[] = [];
  for (;;) {
    const limit = Math.min(MOST, most - all.length);
    const before = all.length ? `&before=${all.at(-1)?.seq}` : "";
    const path = `/api/v1/notifications?limit=${limit}&unread=${isUnread}${before}`;
    const part = await load<Listed>(path, () => undefined, { signal });
    all.push(...part.notifications);
    if (part.notifications.length < limit || all.length >= most)
      return { unread: part.unread, notifications: all };
  }
}

/** Marks notifications as read; a failure is said. */
async function markRead(body: { ids: string[] } | { until: number }): Promise<boolean> {
  try {
    await request<void>("POST", "/api/v1/notifications/read", { body });
    await readUnread();
    return true;
  } catch (error) {
    notice.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}

function Row({ one }: { one: Told }) {
  const t = toldWords.value;
  const path = one.node_id ? pagePath(one.node_id) : spacePath(one.space_id);
  const follow = (): void => {
    if (!one.is_read) void markRead({ ids: [one.id] });
    if (one.node_id && one.comment_id) openPanel(one.node_id);
  };
  return (
    <li class={`card line told${one.is_read ? "" : " is-new"}`} data-notification={one.kind}>
      <div>
        <strong>
          <a href={path} dir="auto" onClick={follow}>
            {one.title}
          </a>
          {!one.is_read && <span class="chip">{t.isNew}</span>}
        </strong>
        <p class="faint">
          <span dir="auto">{t[one.kind](one.actor_name ?? t.somebody, one.times)}</span>
          {" · "}
          <time dateTime={one.at} title={new Date(one.at).toLocaleString()}>
            {when(one.at)}
          </time>
        </p>
        {one.excerpt && (
          <p class="excerpt" dir="auto">
            {one.excerpt}
          </p>
        )}
      </div>
      {!one.is_read && (
        <div class="acts">
          <button
            type="button"
            aria-label={t.readOf(one.title)}
            onClick={() => {
              void markRead({ ids: [one.id] });
              document.getElementById("title")?.focus();
            }}
          >
            {t.read}
          </button>
        </div>
      )}
    </li>
  );
}

export function Screen() {
  const w = words.value;
  const t = toldWords.value;
  const [list, setList] = useState<Told[]>();
  // There may be more after a list that is as long as it was to be.
  const [hasMore, setHasMore] = useState(false);
  const [problem, setProblem] = useState("");
  const [isUnread, setUnread] = useState(false);
  const [most, setMost] = useState(PART);
  const [tries, setTries] = useState(0);
  useLayoutEffect(() => {
    document.title = w.notifications;
    arrive();
  }, [w.notifications]);
  useLayoutEffect(() => {
    // The button that asked for more is gone with the end of the list.
    if (!hasMore && document.activeElement === document.body)
      document.getElementById("title")?.focus({ preventScroll: true });
  }, [hasMore]);
  const turn = heard.value;
  const online = isOnline.value;
  useEffect(() => {
    const stopping = new AbortController();
    const isSame = isCurrent();
    const show = (found: Listed): void => {
      if (stopping.signal.aborted || !isSame()) return;
      setList(found.notifications);
      setHasMore(found.notifications.length === most);
      setProblem("");
      unread.value = found.unread;
    };
    read(most, isUnread, stopping.signal).then(show, (error: unknown) => {
      if (!(error instanceof EndedError)) setProblem(w.notReached);
    });
    return () => stopping.abort();
  }, [turn, isUnread, most, online, tries]);
  if (problem && !list)
    return <Message title={w.failed} text={problem} retry={() => setTries(tries + 1)} />;
  if (!list) return <Skeleton />;
  const newest = list[0];
  return (
    <div class="around">
      <h1 id="title" tabIndex={-1}>
        {w.notifications}
      </h1>
      <p class="faint">{t.lead}</p>
      <div class="acts bar">
        <label class="check">
          <input
            type="checkbox"
            checked={isUnread}
            onChange={(event) => setUnread(event.currentTarget.checked)}
          />
          <span>{t.onlyUnread}</span>
        </label>
        {unread.value > 0 && newest && (
          <button
            type="button"
            onClick={() => {
              void markRead({ until: newest.seq }).then((isDone) => {
                if (isDone) notice.value = t.allRead;
              });
              document.getElementById("title")?.focus();
            }}
          >
            {t.readAll}
          </button>
        )}
        <a class="button" href="/w/account#account-told">
          {t.wanted}
        </a>
      </div>
      {!list.length && <p class="faint">{isUnread ? t.nothingUnread : t.nothing}</p>}
      <ul class="card-list">
        {list.map((one) => (
          <Row key={one.id} one={one} />
        ))}
      </ul>
      {hasMore && (
        <p>
          <button type="button" onClick={() => setMost(most + MOST)}>
            {t.more}
          </button>
        </p>
      )}
      <p class="faint">{t.kept}</p>
    </div>
  );
}
