/** The menu behind `/`: blocks, and the commands of a table. */
import { type Block, offered } from "./blocks";
import { Offer } from "./offer";

const MOST_TYPED = 30;

export const slash = new Offer<Block>({
  sign: "/",
  list: "blocks",
  isTyped: (text) => text.length <= MOST_TYPED && !text.includes("\n"),
  find: offered,
  take: (tr, from, to) => void tr.delete(from, to),
  after: (view, block) => void block.run(view.state, view.dispatch, view),
  always: { "aria-autocomplete": "list", "aria-haspopup": "listbox" },
});
