/** The entries of the audit log about one page, for administrators. */
import { useLayoutEffect } from "preact/hooks";
import { arrive } from "../../app/router";
import { pagePath } from "../../app/routes";
import { mayAdminister, opened } from "../../app/store";
import { words } from "../../app/words";
import { Message } from "../message";
import { Skeleton } from "../page";
import { usePage } from "../around/parts";
import { around, ready as aroundReady } from "../around/words";
import { Entries } from "./audit";
import { adminReady, adminWords } from "./tools";

export const ready = async (): Promise<void> => {
  await Promise.all([adminReady(), aroundReady()]);
};

export function Screen({ id }: { id: string }) {
  const w = adminWords();
  const node = usePage(id);
  const isGone = opened.value?.id === id && opened.value.problem !== undefined;
  const title = node && w.auditOf(node.title);
  useLayoutEffect(() => {
    if (!title) return;
    document.title = title;
    arrive();
  }, [title]);
  // The server decides; who may not is not even shown that there is something.
  if (!mayAdminister.value || isGone)
    return <Message title={words.value.notFound} text={words.value.notFoundText} />;
  if (!title) return <Skeleton />;
  return (
    <div class="settings managed">
      <h1 id="title" tabIndex={-1} dir="auto">
        {title}
      </h1>
      <p>
        <a href={pagePath(id)}>{around.value.backToPage}</a>
      </p>
      <Entries page={id} />
    </div>
  );
}
