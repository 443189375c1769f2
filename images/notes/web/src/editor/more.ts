/** What the open editor may need next, in one part: it is fetched when the text is shown. */
export { act, tools } from "./acts";
export { LinkForm } from "./link_form";
