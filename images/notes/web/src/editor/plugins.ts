/** The plugins of an editor, in their order. */
import { signal } from "@preact/signals";
import { gapCursor } from "prosemirror-gapcursor";
import { moved } from "../app/presence";
import { carets } from "./carets";
import { handles } from "./handles";
import { keys } from "./keys";
import { large } from "./large";
import { links } from "./linked";
import { mention, named } from "./mention";
import { pastesHere } from "./paste_here";
import type { Session } from "./session";
import { slash } from "./slash";
import { uploads } from "./uploads";

/** True while the address of a link is asked for. */
export const isLinking = signal(false);

export const plugins = (page: string, seq: number, session: () => Session | undefined) => [
  slash.plugin(),
  mention.plugin(named(page)),
  carets(seq, () => moved(page)),
  uploads(session),
  links(),
  pastesHere(),
  ...keys((state) => {
    if (state.selection.empty && !state.selection.$from.marks().some((m) => m.type.name === "link"))
      return false;
    isLinking.value = true;
    return true;
  }),
  gapCursor(),
  handles(),
  large(),
];
