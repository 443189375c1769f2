/** What is beside a page, fetched when the browser has nothing better to do, or when it is asked for. */
import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PageNode } from "../../api/types";
import { dialog, page, pageInView } from "../../app/commands";
import { panel } from "../../app/comments";
import { route } from "../../app/router";
import { pageOf } from "../../app/routes";
import { isOnline, notice, opened, userId } from "../../app/store";
import { noScript } from "../../app/updates";
import { words } from "../../app/words";

interface Part {
  Comments: FunctionComponent<{ node: PageNode }>;
  ready: () => Promise<void>;
}

/** Nobody waits for the marks in the text: they come after the text. */
const LATER_MS = 2000;

async function fetched(): Promise<Part> {
  const found = await import("./comments");
  await found.ready();
  return found;
}

/** The comments of the page that is shown. */
export function Beside() {
  const [part, setPart] = useState<Part>();
  const node = page();
  const isThere = node !== undefined && !node.trashed_at;
  const isAsked = panel.value !== undefined;
  useEffect(() => {
    if (part || !isThere) return undefined;
    let isGone = false;
    const open = (): void => {
      fetched().then(
        (found) => isGone || setPart(found),
        (error) => {
          void noScript();
          if (isAsked) notice.value = `${words.value.failed}: ${error}`;
        },
      );
    };
    const isIdle = !isAsked && "requestIdleCallback" in window;
    if (isIdle) requestIdleCallback(open, { timeout: LATER_MS });
    else open();
    return () => {
      isGone = true;
    };
    // A part that was not to be had is fetched with the network's return.
  }, [isThere, isAsked, part, isOnline.value]);
  return part && isThere ? <part.Comments key={`${userId()} ${node.id}`} node={node} /> : null;
}

interface DialogPart {
  Screen: FunctionComponent<{ node: PageNode }>;
  ready?: () => Promise<void>;
}

const OF_PAGE: Record<string, () => Promise<DialogPart>> = {
  permissions: () => import("./permissions"),
  move: () => import("./move"),
};
const DIALOGS: Record<string, () => Promise<DialogPart>> = {
  ...OF_PAGE,
  keys: () => import("../asked/keys"),
  "new page": () => import("../asked/new_page"),
  "new space": () => import("../space/new_space"),
  "sign out": () => import("../asked/sign_out"),
};

/** The dialog that is open, fetched when it is opened; some are about the page of the screen. */
export function Dialogs() {
  const [part, setPart] = useState<{ name: string; found: DialogPart }>();
  const name = dialog.value;
  const open = DIALOGS[name];
  const node = pageInView();
  const isOfPage = name in OF_PAGE;
  const place = pageOf(route.value);
  const begun = useRef({ name, place });
  if (begun.current.name !== name) begun.current = { name, place };
  const isOver = isOfPage && (place !== begun.current.place || opened.value?.problem !== undefined);
  useEffect(() => {
    // It ends with its page: a dialog that is taken out of the page does not say that it is closed.
    if (isOver) dialog.value = "";
  }, [isOver]);
  useEffect(() => {
    let isGone = false;
    const fetchPart = async (): Promise<void> => {
      if (!open) return;
      try {
        const found = await open();
        await found.ready?.();
        if (!isGone) setPart({ name, found });
      } catch (error) {
        dialog.value = "";
        notice.value = `${words.value.failed}: ${error}`;
        void noScript();
      }
    };
    void fetchPart();
    return () => {
      isGone = true;
    };
  }, [name]);
  if (isOver || !open || part?.name !== name || (isOfPage && !node)) return null;
  return <part.found.Screen key={isOfPage && node?.id} node={node as PageNode} />;
}
