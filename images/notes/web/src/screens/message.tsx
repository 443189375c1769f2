/** A screen that says why there is nothing to show, and what can be done. */
import { useLayoutEffect } from "preact/hooks";
import { arrive } from "../app/router";
import { words } from "../app/words";

interface Props {
  title: string;
  text?: string;
  action?: { title: string; path: string };
  retry?: () => void;
}

export function Message({ title, text, action, retry }: Props) {
  useLayoutEffect(() => {
    document.title = title;
    arrive();
  }, [title]);
  return (
    <div class="message">
      <h1 id="title" tabIndex={-1}>
        {title}
      </h1>
      {text && <p>{text}</p>}
      <div class="buttons">
        {action && (
          <a class="button primary" href={action.path}>
            {action.title}
          </a>
        )}
        {retry && (
          <button type="button" class="primary" onClick={retry}>
            {words.value.retry}
          </button>
        )}
      </div>
    </div>
  );
}
